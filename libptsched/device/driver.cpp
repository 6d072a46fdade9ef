// SPDX-License-Identifier: MIT
#include "driver.hpp"

#include <dlfcn.h>
#include <optional>

namespace ptsched::device {

namespace {

template <typename F> bool find(void *library, const char *name, F *&function)
{
    function = reinterpret_cast<F *>(dlsym(library, name));
    return function;
}

std::optional<Driver> load()
{
    Driver d;
    CUresult (*init)(unsigned);
    void *library = dlopen("libcuda.so.1", RTLD_NOW);

    /* Stays loaded: a driver does not survive its own unloading. */
    if (!library || !find(library, "cuInit", init) || !find(library, "cuGetErrorName", d.error_name) ||
        !find(library, "cuDeviceGetCount", d.device_count) || !find(library, "cuDeviceGet", d.device_get) ||
        !find(library, "cuDeviceGetName", d.device_name) ||
        !find(library, "cuDevicePrimaryCtxRetain", d.context_retain) ||
        !find(library, "cuCtxSetCurrent", d.context_set) || !find(library, "cuMemHostAlloc", d.host_alloc) ||
        !find(library, "cuMemFreeHost", d.host_free) || !find(library, "cuMemAlloc_v2", d.mem_alloc) ||
        !find(library, "cuMemFree_v2", d.mem_free) || !find(library, "cuMemcpyHtoDAsync_v2", d.upload) ||
        !find(library, "cuMemcpyDtoHAsync_v2", d.download) || !find(library, "cuModuleLoad", d.module_load) ||
        !find(library, "cuModuleUnload", d.module_unload) || !find(library, "cuModuleGetFunction", d.module_function) ||
        !find(library, "cuLaunchKernel", d.launch) || !find(library, "cuStreamCreate", d.stream_create) ||
        !find(library, "cuStreamDestroy_v2", d.stream_destroy) || !find(library, "cuStreamWaitEvent", d.stream_wait) ||
        !find(library, "cuStreamSynchronize", d.stream_synchronize) ||
        !find(library, "cuEventCreate", d.event_create) || !find(library, "cuEventDestroy_v2", d.event_destroy) ||
        !find(library, "cuEventRecord", d.event_record) || !find(library, "cuEventQuery", d.event_query) ||
        !find(library, "cuEventSynchronize", d.event_synchronize))
        return {};
    if (init(0) != CUDA_SUCCESS)
        return {};
    return d;
}

} // namespace

const Driver *Driver::get()
{
    static const std::optional<Driver> driver = load();
    return driver ? &*driver : nullptr;
}

void Driver::fail(CUresult error, const std::string &doing) const
{
    const char *name = nullptr;
    error_name(error, &name);
    throw Error(doing + ": " + (name ? name : "CUDA error " + std::to_string(error)));
}

} // namespace ptsched::device
