// SPDX-License-Identifier: MIT
#include "cuda_code.hpp"

#include "nvrtc.hpp"

namespace ptsched::device {

CudaCode::CudaCode(const CudaDevice &device, CUmodule module, const std::string &function, const std::string &where)
    : device_(device), module_(module)
{
    const Driver &driver = device.driver;
    Entered entered(device);
    if (CUresult error = driver.module_function(&function_, module_, function.c_str())) {
        driver.module_unload(module_);
        driver.fail(error, "kernel " + function + " in " + where);
    }
}

CudaCode::~CudaCode()
{
    Entered entered(device_);
    device_.driver.module_unload(module_);
}

std::optional<std::vector<std::size_t>> CudaCode::parameter_sizes() const
{
    std::vector<std::size_t> sizes;
    std::size_t offset = 0, size = 0;

    if (!device_.driver.parameter_info)
        return {};
    Entered entered(device_);
    for (;;) {
        CUresult result = device_.driver.parameter_info(function_, sizes.size(), &offset, &size);
        if (result == CUDA_ERROR_INVALID_VALUE) /* after the last */
            return sizes;
        if (result != CUDA_SUCCESS)
            return {};
        sizes.push_back(size);
    }
}

std::unique_ptr<Code> cuda_code(Device &gpu, const std::string &module, const std::string &function)
{
    auto &device = static_cast<CudaDevice &>(gpu);
    CUmodule loaded = nullptr;
    Entered entered(device);
    if (CUresult error = device.driver.module_load(&loaded, module.c_str()))
        device.driver.fail(error, "module " + module);
    return std::make_unique<CudaCode>(device, loaded, function, "module " + module);
}

std::unique_ptr<Code> cuda_code_from_source(Device &gpu, const std::string &source, const std::string &function)
{
    auto &device = static_cast<CudaDevice &>(gpu);
    const Driver &driver = device.driver;
    CUmodule loaded = nullptr;
    int major = 0, minor = 0;
    Entered entered(device);
    driver.check(driver.attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device.number()),
                 "cuDeviceGetAttribute");
    driver.check(driver.attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device.number()),
                 "cuDeviceGetAttribute");
    Cubin cubin = compile_cuda(source, function, major, minor);
    if (CUresult error = driver.module_load_data(&loaded, cubin.image.data()))
        driver.fail(error, "what NVRTC made of the source of kernel " + function + " for " + device.name());
    return std::make_unique<CudaCode>(device, loaded, cubin.function, "its source");
}

} // namespace ptsched::device
