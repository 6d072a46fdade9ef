/* SPDX-License-Identifier: MIT */
/* Kernels as C programs name them. */
#ifndef PTSCHED_POOL_C_KERNEL_HPP
#define PTSCHED_POOL_C_KERNEL_HPP

#include "libptsched/base/c_struct.hpp"
#include <ptsched/device/device.hpp>
#include <ptsched/pool.h>

namespace ptsched::pool {

/* Sizes that structures had in the first version, by the last member that they had there. */
inline constexpr std::size_t first_header = offsetof(ptsched_pool_header, text) + sizeof(ptsched_pool_header::text),
                             first_kernel = offsetof(ptsched_pool_kernel, header_count) +
                                            sizeof(ptsched_pool_kernel::header_count);

inline device::CudaSource source_of(const ptsched_pool_kernel &kernel)
{
    device::CudaSource source{kernel.cuda_source, strings_of(kernel.options, kernel.option_count, "options", "option")};
    for_each_known(kernel.headers, kernel.header_count, first_header, "ptsched_pool_header", "headers",
                   [&](const ptsched_pool_header &header) {
                       source.headers.emplace_back(&needed(header.name, "name of a header"),
                                                   &needed(header.text, "text of a header"));
                   });
    return source;
}

/* A kernel of that name, from where @given is. Throws Error if that is said by none of its members, or by several. */
using KernelByName = std::function<std::unique_ptr<device::Code>(device::Device &, const std::string &name)>;
inline KernelByName kernel_of(const ptsched_pool_kernel &given)
{
    const ptsched_pool_kernel kernel = as_known(given, first_kernel, "ptsched_pool_kernel");
    const std::string its_name = &needed(kernel.name, "name of the kernel");
    const std::string places =
        names_of_set({{"module", kernel.module}, {"image", kernel.image}, {"cuda_source", kernel.cuda_source}});
    if (places.empty() || places.find(' ') != std::string::npos)
        throw Error("kernel " + its_name + " needs one of module, image and cuda_source, and has " +
                    (places.empty() ? "none" : places));
    if (kernel.module)
        return [module = std::string(kernel.module)](device::Device &gpu, const std::string &name) {
            return device::cuda_code(gpu, module, name);
        };
    if (kernel.image)
        return [image = std::span(static_cast<const std::byte *>(kernel.image), kernel.image_bytes)](
                   device::Device &gpu, const std::string &name) {
            return device::cuda_code_from_image(gpu, image, name);
        };
    return [source = source_of(kernel)](device::Device &gpu, const std::string &name) {
        return device::cuda_code_from_source(gpu, source, name);
    };
}

} // namespace ptsched::pool

#endif /* PTSCHED_POOL_C_KERNEL_HPP */
