// SPDX-License-Identifier: MIT
#include "cuda_code.hpp"

#include "nvrtc.hpp"

#include <climits>
#include <compare>
#include <map>
#include <mutex>
#include <sys/stat.h>

namespace ptsched::device {

namespace {

/* A file as it was when it was loaded: one that has been built anew is another. */
struct FileId {
    const CudaDevice *device;
    dev_t filesystem;
    ino_t inode;
    off_t size;
    std::int64_t seconds, nanoseconds;
    auto operator<=>(const FileId &) const = default;
};

CudaModulePtr load(const CudaDevice &device, const std::string &path)
{
    CUmodule loaded = nullptr;
    Entered entered(device);
    if (CUresult error = device.driver.module_load(&loaded, path.c_str()))
        device.driver.fail(error, "module " + path);
    return std::make_shared<CudaModule>(device, loaded);
}

/* Graphs have many tasks with kernels of one file. */
CudaModulePtr loaded_once(const CudaDevice &device, const std::string &path)
{
    static std::mutex mutex;
    static auto &modules = *new std::map<FileId, std::weak_ptr<const CudaModule>>; /* some code may live until exit */
    struct stat file;
    if (stat(path.c_str(), &file) < 0)
        return load(device, path); /* the driver has the words for it */
    std::lock_guard lock(mutex);
    auto &known = modules[{&device, file.st_dev, file.st_ino, file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec}];
    CudaModulePtr module = known.lock();
    if (!module)
        known = module = load(device, path);
    return module;
}

} // namespace

CudaModule::~CudaModule()
{
    Entered entered(device);
    device.driver.module_unload(handle);
}

CudaCode::CudaCode(CudaModulePtr module, const std::string &function, const std::string &where)
    : module_(std::move(module)), name_(function)
{
    const Driver &driver = module_->device.driver;
    Entered entered(module_->device);
    if (CUresult error = driver.module_function(&function_, module_->handle, function.c_str()))
        driver.fail(error, "kernel " + function + " in " + where);
}

std::optional<std::vector<std::size_t>> CudaCode::parameter_sizes() const
{
    std::vector<std::size_t> sizes;
    std::size_t offset = 0, size = 0;

    const CudaDevice &device = module_->device;
    if (!device.driver.parameter_info)
        return {};
    Entered entered(device);
    for (;;) {
        CUresult result = device.driver.parameter_info(function_, sizes.size(), &offset, &size);
        if (result == CUDA_ERROR_INVALID_VALUE) /* after the last */
            return sizes;
        if (result != CUDA_SUCCESS)
            return {};
        sizes.push_back(size);
    }
}

std::optional<Code::Variable> CudaCode::variable(const std::string &name) const
{
    const CudaDevice &device = module_->device;
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    Entered entered(device);
    CUresult result = device.driver.module_variable(&address, &bytes, module_->handle, name.c_str());
    if (result == CUDA_ERROR_NOT_FOUND)
        return {};
    device.driver.check(result, "cuModuleGetGlobal");
    return Variable{address, bytes};
}

/* Nothing where the driver does not say. */
std::optional<int> CudaCode::attribute(CUfunction_attribute which) const
{
    const Driver &driver = module_->device.driver;
    int value = 0;
    if (!driver.function_attribute || driver.function_attribute(&value, which, function_) != CUDA_SUCCESS)
        return {};
    return value;
}

/* Above 48 KB a function must have been told; it is the same for all who have it of one module. */
void CudaCode::allow_shared(unsigned bytes) const
{
    static std::mutex mutex;
    const CudaDevice &device = module_->device;
    constexpr auto dynamic = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    std::lock_guard lock(mutex);
    const auto allowed = attribute(dynamic);
    if (!allowed || bytes <= static_cast<unsigned>(*allowed))
        return;
    if (const auto allow = device.driver.set_function_attribute;
        allow && bytes <= INT_MAX && allow(function_, dynamic, static_cast<int>(bytes)) == CUDA_SUCCESS)
        return;
    const int own = attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES).value_or(0);
    const int most = device.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN).value_or(*allowed + own);
    throw Error("kernel " + name_ + " has " + std::to_string(bytes) +
                " bytes of dynamic shared memory in a block, and can have " + std::to_string(most - own) + " on " +
                device.name());
}

void CudaCode::prepare(const Geometry &geometry) const
{
    /* The same for all GPUs there are. */
    constexpr Extent most_blocks{2147483647, 65535, 65535};
    const Extent &grid = geometry.grid;
    const std::string where = " on " + module_->device.name();
    if (grid.x > most_blocks.x || grid.y > most_blocks.y || grid.z > most_blocks.z)
        throw Error("kernel " + name_ + " has a grid of " + describe(grid) + " blocks, and can have " +
                    describe(most_blocks) + where);
    Entered entered(module_->device);
    const auto most = attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    if (most && geometry.threads_of_block() > *most)
        throw Error("kernel " + name_ + " has blocks of " + describe(geometry.block) + " threads, and can have " +
                    std::to_string(*most) + " in a block" + where);
    if (geometry.shared_bytes)
        allow_shared(geometry.shared_bytes);
}

std::unique_ptr<Code> cuda_code(Device &gpu, const std::string &module, const std::string &function, Module which)
{
    auto &device = static_cast<CudaDevice &>(gpu);
    auto loaded = which == Module::own ? load(device, module) : loaded_once(device, module);
    return std::make_unique<CudaCode>(std::move(loaded), function, "module " + module);
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
    return std::make_unique<CudaCode>(std::make_shared<CudaModule>(device, loaded), cubin.function, "its source");
}

} // namespace ptsched::device
