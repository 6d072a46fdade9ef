// SPDX-License-Identifier: MIT
#include "samples/ptask/paper/cuda.hpp"

#include <dlfcn.h>

namespace ptsched::paper {

namespace {

template <typename F> void find(void *library, const char *name, F *&function)
{
    function = reinterpret_cast<F *>(dlsym(library, name));
    if (!function)
        throw device::Error(std::string("the CUDA driver has no ") + name + ": it is too old");
}

Driver load()
{
    Driver d{};
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        throw device::Error("no CUDA driver: " + std::string(dlerror()));
#define PTSCHED_PAPER_FIND(member, symbol) find(library, #symbol, d.member);
    PTSCHED_PAPER_DRIVER(PTSCHED_PAPER_FIND)
#undef PTSCHED_PAPER_FIND
    if (CUresult result = d.init(0))
        throw device::Error("the CUDA driver does not start (error " + std::to_string(result) + "): is there a GPU?");
    return d;
}

} // namespace

const Driver &driver()
{
    static const Driver found = load();
    return found;
}

void check(CUresult result, const char *doing)
{
    const char *name = nullptr;
    if (result == CUDA_SUCCESS)
        return;
    driver().error_name(result, &name);
    throw device::Error(std::string(doing) + ": " + (name ? name : "CUDA error " + std::to_string(result)));
}

Memory make_memory(std::size_t bytes)
{
    CUdeviceptr memory = 0;
    check(driver().mem_alloc(&memory, bytes), "cuMemAlloc");
    return Memory(memory);
}

Pinned make_pinned(std::size_t bytes)
{
    void *memory = nullptr;
    check(driver().host_alloc(&memory, bytes, 0), "cuMemHostAlloc");
    return Pinned(memory);
}

Stream make_stream(int priority)
{
    CUstream stream = nullptr;
    check(driver().stream_create(&stream, CU_STREAM_NON_BLOCKING, priority), "cuStreamCreateWithPriority");
    return Stream(stream);
}

Event make_event(unsigned flags)
{
    CUevent event = nullptr;
    check(driver().event_create(&event, flags), "cuEventCreate");
    return Event(event);
}

std::filesystem::path program_folder()
{
    return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

std::string default_module()
{
    return program_folder() / "paper.fatbin";
}

Gpu::Gpu(const std::string &module, int number) : path_(module)
{
    CUmodule handle = nullptr;
    if (!std::filesystem::exists(module))
        throw device::Error("there is no " + module + ": make bench-ptask compiles it, which needs nvcc");
    check(driver().device_get(&device_, number), "cuDeviceGet");
    check(driver().context_retain(&context_, device_), "cuDevicePrimaryCtxRetain");
    enter();
    check(driver().module_load(&handle, module.c_str()), module.c_str());
    module_ = Module(handle);
}

std::string Gpu::name() const
{
    char name[128] = "";
    check(driver().device_name(name, sizeof(name), device_), "cuDeviceGetName");
    return name;
}

CUfunction Gpu::function(const std::string &kernel) const
{
    CUfunction function = nullptr;
    check(driver().module_function(&function, module_.get(), kernel.c_str()), kernel.c_str());
    return function;
}

} // namespace ptsched::paper
