// SPDX-License-Identifier: MIT
/* Kernels from CUDA source. */
#include "libptsched/device/image.hpp"
#include "libptsched/device/nvrtc.hpp"
#include "tests/device/cases.hpp"

#include <cstdlib>
#include <dlfcn.h>

using namespace ptsched;
using test::refused;

namespace {

void compile(const std::string &source)
{
    device::cuda_code_from_source(*device::gpus().at(0), {source}, "twice");
}

const std::string right = "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }";
const std::string wrong = "__global__ void twice(float *x) { x[threadIdx.x] *= two; }";

void without_a_compiler()
{
    setenv("PTSCHED_NVRTC", "/nonexistent/libnvrtc.so", 1);
    CHECK(refused([] { compile(right); }, {"NVRTC", "cannot be loaded (/nonexistent/libnvrtc.so: ", "nvcc"}));
    unsetenv("PTSCHED_NVRTC");
}

/* With the headers that come with CUDA, and two kernels of which the second was not asked for when it was compiled. */
void with_headers()
{
    const device::CudaSource source{"#include <cuda_fp16.h>\n#include <cooperative_groups.h>\n#include \"of.h\"\n"
                                    "namespace of { __global__ void one(__half *x) { *x = TWO; } }\n"
                                    "__global__ void two(float *x, int n) { x[n] = TWO; }\n",
                                    {"-DTWO=2", "--use_fast_math"},
                                    {{"of.h", "static_assert(TWO == 2);\n"}}};
    const auto first = device::compile_cuda(source, "two", 9, 0),
               second = device::compile_cuda(source, "of::one", 9, 0);
    CHECK(first->image == second->image && !first->image.empty());
    CHECK(first->names.at("two") == "_Z3twoPfi");
    CHECK(second->names.at("of::one") == "_ZN2of3oneEP6__half");
    CHECK(device::functions_called("nobody", std::as_bytes(std::span(first->image))).empty());
    CHECK(refused([&] { device::compile_cuda(source, "nobody", 9, 0); }, {"kernel nobody does not compile", "sm_90"}));
    CHECK(refused(
        [&] {
            device::compile_cuda({source.text, {"-DTWO=3"}, source.headers}, "two", 9, 0);
        },
        {"kernel two does not compile", "of.h"}));
}

/* The virtual GPU takes no cubin, so that with a compiler the last step is refused, and by the driver. */
void as_installed()
{
    bool there = false;
    for (const char *name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"})
        there = there || dlopen(name, RTLD_NOW);
    std::printf("# NVRTC is %sinstalled\n", there ? "" : "not ");
    if (there) {
        CHECK(refused([] { compile(wrong); }, {"kernel twice does not compile", "source.cu(1)", "two"}));
        CHECK(refused([] { compile(right); }, {"twice", "CUDA_ERROR_INVALID_IMAGE"}));
        with_headers();
    } else {
        CHECK(refused([] { compile(right); }, {"NVRTC", "libnvrtc.so.12", "nvcc"}));
    }
}

} // namespace

std::vector<tap::Case> test::source_cases()
{
    return {{"CUDA source without a compiler", without_a_compiler}, {"CUDA source as it is here", as_installed}};
}
