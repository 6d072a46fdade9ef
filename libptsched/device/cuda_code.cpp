// SPDX-License-Identifier: MIT
#include "libptsched/device/cuda_code.hpp"

#include "libptsched/base/lock.hpp"
#include "libptsched/device/image.hpp"
#include "libptsched/device/nvrtc.hpp"

#include <climits>
#include <compare>
#include <map>
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

CudaModulePtr load_file(const CudaDevice &device, const std::string &path)
{
    CUmodule loaded = nullptr;
    Entered entered(device);
    if (CUresult error = device.driver.module_load(&loaded, path.c_str()))
        device.driver.fail(error, "module " + path);
    return std::make_shared<CudaModule>(device, loaded);
}

/* With a null behind it, which ends what is text. */
CudaModulePtr load_image(const CudaDevice &device, const std::string &image, const std::string &what)
{
    CUmodule loaded = nullptr;
    Entered entered(device);
    if (CUresult error = device.driver.module_load_data(&loaded, image.c_str()))
        device.driver.fail(error, what);
    return std::make_shared<CudaModule>(device, loaded);
}

CudaModulePtr loaded_once(const CudaDevice &device, const std::string &image, const std::string &what)
{
    using Key = std::pair<const CudaDevice *, std::string>;
    static Mutex mutex;
    static auto &modules PTSCHED_GUARDED_BY(mutex) = *new std::map<Key, std::weak_ptr<const CudaModule>>;
    Guard lock(mutex);
    std::erase_if(modules, [](const auto &known) { return known.second.expired(); });
    auto found = modules.find({&device, image});
    CudaModulePtr module = found == modules.end() ? nullptr : found->second.lock();
    if (!module)
        modules[{&device, image}] = module = load_image(device, image, what);
    return module;
}

/* Graphs have many tasks with kernels of one file. */
CudaModulePtr loaded_once(const CudaDevice &device, const std::string &path)
{
    static Mutex mutex;
    static auto &modules PTSCHED_GUARDED_BY(mutex) =
        *new std::map<FileId, std::weak_ptr<const CudaModule>>; /* some code may live until exit */
    struct stat file;
    if (stat(path.c_str(), &file) < 0)
        return load_file(device, path); /* the driver has the words for it */
    Guard lock(mutex);
    auto &known = modules[{&device, file.st_dev, file.st_ino, file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec}];
    CudaModulePtr module = known.lock();
    if (!module)
        known = module = load_file(device, path);
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
    const CUresult error = driver.module_function(&function_, module_->handle, function.c_str());
    if (error == CUDA_ERROR_NOT_FOUND)
        throw NoKernel("kernel " + function + " in " + where + ": CUDA_ERROR_NOT_FOUND");
    if (error != CUDA_SUCCESS)
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
    static Mutex mutex;
    const CudaDevice &device = module_->device;
    constexpr auto dynamic = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    Guard lock(mutex);
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

void CudaCode::give(CUstream stream, const Geometry &g, const std::vector<void *> &arguments) const
{
    const Driver &driver = module_->device.driver;
    driver.check(driver.launch(function_, g.grid.x, g.grid.y, g.grid.z, g.block.x, g.block.y, g.block.z, g.shared_bytes,
                               stream, const_cast<void **>(arguments.data()), nullptr),
                 "cuLaunchKernel");
}

void CudaWork::give_cooperative(CUstream, const Geometry &, const std::vector<void *> &) const
{
    throw Error("a function that gives a stream work itself has no blocks that a cooperative launch could start");
}

std::optional<std::size_t> CudaCode::most_blocks(const Geometry &geometry) const
{
    const CudaDevice &device = module_->device;
    const auto processors = device.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    int each = 0;
    if (!device.driver.most_blocks || !processors || geometry.threads_of_block() > INT_MAX)
        return {};
    Entered entered(device);
    if (geometry.shared_bytes)
        allow_shared(geometry.shared_bytes);
    if (device.driver.most_blocks(&each, function_, static_cast<int>(geometry.threads_of_block()),
                                  geometry.shared_bytes) != CUDA_SUCCESS)
        return {};
    return static_cast<std::size_t>(each) * static_cast<std::size_t>(*processors);
}

std::optional<unsigned> CudaCode::best_block(unsigned shared_bytes) const
{
    const CudaDevice &device = module_->device;
    int grid = 0, threads = 0;
    Entered entered(device);
    if (!device.driver.best_block ||
        device.driver.best_block(&grid, &threads, function_, nullptr, shared_bytes, 0) != CUDA_SUCCESS || threads <= 0)
        return {};
    return static_cast<unsigned>(threads);
}

void CudaCode::give_cooperative(CUstream stream, const Geometry &g, const std::vector<void *> &arguments) const
{
    const CudaDevice &device = module_->device;
    const auto launch = device.driver.need(&Driver::launch_cooperative, "a cooperative launch");
    const CUresult result = launch(function_, g.grid.x, g.grid.y, g.grid.z, g.block.x, g.block.y, g.block.z,
                                   g.shared_bytes, stream, const_cast<void **>(arguments.data()));
    if (result != CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
        return device.driver.check(result, "cuLaunchCooperativeKernel");
    throw Error("kernel " + name_ + " has a grid of " + describe(g.grid) +
                " blocks that are to be there at once, and " + device.name() + " has " +
                std::to_string(most_blocks(g).value_or(0)) + " of " + describe(g.block) + " threads");
}

namespace {

/* The first of them that has the kernel; those that are for other GPUs are passed over. */
std::unique_ptr<Code> code_of(const CudaDevice &device, std::span<const std::string> images,
                              const std::string &function, const std::string &where, Module which)
{
    std::string problem;
    for (const std::string &image : images)
        try {
            auto module = which == Module::own ? load_image(device, image, where) : loaded_once(device, image, where);
            return std::make_unique<CudaCode>(std::move(module), function, where);
        } catch (const NoKernel &) {
            problem = "there is no kernel " + function + " in " + where;
        } catch (const Fault &) {
            throw;
        } catch (const Error &error) {
            problem = problem.empty() ? error.what() : problem;
        }
    throw Error(problem);
}

} // namespace

std::unique_ptr<Code> cuda_code(Device &gpu, const std::string &module, const std::string &function, Module which)
{
    auto &device = static_cast<CudaDevice &>(gpu);
    if (const auto images = images_in_program(module); !images.empty())
        return code_of(device, images, function, "program " + module, which);
    auto loaded = which == Module::own ? load_file(device, module) : loaded_once(device, module);
    return std::make_unique<CudaCode>(std::move(loaded), function, "module " + module);
}

std::unique_ptr<Code> cuda_code_from_image(Device &gpu, std::span<const std::byte> image, const std::string &function,
                                           Module which)
{
    std::vector<std::string> images;
    for (Bytes one : images_in(image))
        images.emplace_back(reinterpret_cast<const char *>(one.data()), one.size());
    return code_of(static_cast<CudaDevice &>(gpu), images, function,
                   "an image of " + std::to_string(image.size()) + " bytes", which);
}

std::unique_ptr<Code> cuda_code_from_source(Device &gpu, const CudaSource &source, const std::string &function,
                                            Module which)
{
    auto &device = static_cast<CudaDevice &>(gpu);
    const Driver &driver = device.driver;
    int major = 0, minor = 0;
    Entered entered(device);
    driver.check(driver.attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device.number()),
                 "cuDeviceGetAttribute");
    driver.check(driver.attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device.number()),
                 "cuDeviceGetAttribute");
    const auto cubin = compile_cuda(source, function, major, minor);
    const std::string what = "what NVRTC made of the source of kernel " + function + " for " + device.name();
    auto module =
        which == Module::own ? load_image(device, cubin->image, what) : loaded_once(device, cubin->image, what);
    return std::make_unique<CudaCode>(std::move(module), cubin->names.at(function), "its source");
}

} // namespace ptsched::device
