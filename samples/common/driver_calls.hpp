/* SPDX-License-Identifier: MIT */
/*
 * The driver's functions by their names, in this namespace. They are found when they are first called: a program that
 * calls none starts on a machine without a driver.
 */
#ifndef SAMPLES_COMMON_DRIVER_CALLS_HPP
#define SAMPLES_COMMON_DRIVER_CALLS_HPP

#include "libptsched/cuda/cuda_abi.h"
#include <ptsched/base/error.hpp>

#include <atomic>
#include <dlfcn.h>
#include <string>

namespace ptsched::samples::driver {

/* Stays loaded: a driver does not survive its own unloading. Throws Error if there is none, or it is too old. */
inline void *find_call(const char *name)
{
    static void *const library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        throw Error("there is no GPU: the driver's libcuda.so.1 cannot be loaded");
    void *const found = dlsym(library, name);
    if (!found)
        throw Error(std::string("the driver has no ") + name + ": it is too old");
    return found;
}

template <typename Function> class Call;
/* Thread-safe. */
template <typename... Arguments> class Call<CUresult(Arguments...)> {
public:
    explicit constexpr Call(const char *name) : name_(name) {}
    CUresult operator()(Arguments... arguments) const
    {
        Function *found = found_.load(std::memory_order_relaxed);
        if (!found) {
            found = reinterpret_cast<Function *>(find_call(name_));
            found_.store(found, std::memory_order_relaxed);
        }
        return found(arguments...);
    }

private:
    using Function = CUresult(Arguments...);
    const char *const name_;
    mutable std::atomic<Function *> found_{nullptr};
};

#define SAMPLES_DRIVER_CALL(name) inline constinit Call<decltype(::name)> name{#name};
SAMPLES_DRIVER_CALL(cuInit)
SAMPLES_DRIVER_CALL(cuGetErrorString)
SAMPLES_DRIVER_CALL(cuDeviceGet)
SAMPLES_DRIVER_CALL(cuDeviceGetCount)
SAMPLES_DRIVER_CALL(cuDeviceGetAttribute)
SAMPLES_DRIVER_CALL(cuDevicePrimaryCtxRetain)
SAMPLES_DRIVER_CALL(cuDevicePrimaryCtxRelease_v2)
SAMPLES_DRIVER_CALL(cuCtxSetCurrent)
SAMPLES_DRIVER_CALL(cuCtxGetDevice)
SAMPLES_DRIVER_CALL(cuStreamCreate)
SAMPLES_DRIVER_CALL(cuStreamDestroy_v2)
SAMPLES_DRIVER_CALL(cuStreamSynchronize)
SAMPLES_DRIVER_CALL(cuStreamWaitEvent)
SAMPLES_DRIVER_CALL(cuEventCreate)
SAMPLES_DRIVER_CALL(cuEventDestroy_v2)
SAMPLES_DRIVER_CALL(cuEventRecord)
SAMPLES_DRIVER_CALL(cuEventSynchronize)
SAMPLES_DRIVER_CALL(cuMemAlloc_v2)
SAMPLES_DRIVER_CALL(cuMemFree_v2)
SAMPLES_DRIVER_CALL(cuMemHostAlloc)
SAMPLES_DRIVER_CALL(cuMemFreeHost)
SAMPLES_DRIVER_CALL(cuMemcpyHtoDAsync_v2)
SAMPLES_DRIVER_CALL(cuMemcpyDtoHAsync_v2)
SAMPLES_DRIVER_CALL(cuMemsetD32Async)
SAMPLES_DRIVER_CALL(cuModuleLoad)
SAMPLES_DRIVER_CALL(cuModuleUnload)
SAMPLES_DRIVER_CALL(cuModuleGetFunction)
SAMPLES_DRIVER_CALL(cuLaunchKernel)
#undef SAMPLES_DRIVER_CALL

} // namespace ptsched::samples::driver

#endif /* SAMPLES_COMMON_DRIVER_CALLS_HPP */
