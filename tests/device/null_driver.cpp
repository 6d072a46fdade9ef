// SPDX-License-Identifier: MIT
// A libcuda.so.1 that does nothing and says so at once, and counts: what is left of a call's time is ours.
#include "cuda_abi.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<unsigned long> calls{0};

CUresult done()
{
    calls.fetch_add(1, std::memory_order_relaxed);
    return CUDA_SUCCESS;
}

template <typename T> CUresult give(T *to, std::uintptr_t value)
{
    *to = (T)value;
    return done();
}

thread_local CUcontext current;

} // namespace

extern "C" {

unsigned long null_driver_calls()
{
    return calls.load(std::memory_order_relaxed);
}

CUresult cuInit(unsigned int)
{
    return done();
}

CUresult cuGetErrorName(CUresult, const char **text)
{
    *text = "an error of the driver that does nothing";
    return done();
}

CUresult cuDeviceGetCount(int *count)
{
    return give(count, 2);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    return give(device, static_cast<std::uintptr_t>(ordinal));
}

CUresult cuDeviceGetName(char *name, int length, CUdevice)
{
    std::strncpy(name, "null", static_cast<std::size_t>(length));
    return done();
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute, CUdevice)
{
    return give(value, 0);
}

CUresult cuDeviceCanAccessPeer(int *can_access, CUdevice, CUdevice)
{
    return give(can_access, 1);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    return give(context, static_cast<std::uintptr_t>(device) + 1);
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    *context = current;
    return done();
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    current = context;
    return done();
}

CUresult cuCtxEnablePeerAccess(CUcontext, unsigned int)
{
    return done();
}

CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned int)
{
    return give(pointer, reinterpret_cast<std::uintptr_t>(std::aligned_alloc(512, (bytes + 511) / 512 * 512)));
}

CUresult cuMemFreeHost(void *pointer)
{
    std::free(pointer);
    return done();
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t)
{
    static std::atomic<CUdeviceptr> next{1 << 20};
    return give(pointer, next.fetch_add(1 << 20));
}

CUresult cuMemFree_v2(CUdeviceptr)
{
    return done();
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr, const void *, size_t, CUstream)
{
    return done();
}

CUresult cuMemcpyDtoHAsync_v2(void *, CUdeviceptr, size_t, CUstream)
{
    return done();
}

CUresult cuMemcpyPeerAsync(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream)
{
    return done();
}

CUresult cuModuleLoad(CUmodule *module, const char *)
{
    return give(module, 1);
}

CUresult cuModuleLoadData(CUmodule *module, const void *)
{
    return give(module, 1);
}

CUresult cuModuleUnload(CUmodule)
{
    return done();
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule, const char *)
{
    return give(function, 1);
}

CUresult cuLaunchKernel(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,
                        unsigned int, CUstream, void **, void **)
{
    return done();
}

CUresult cuStreamCreate(CUstream *stream, unsigned int)
{
    return give(stream, 1);
}

CUresult cuStreamDestroy_v2(CUstream)
{
    return done();
}

CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned int)
{
    return done();
}

CUresult cuStreamSynchronize(CUstream)
{
    return done();
}

CUresult cuEventCreate(CUevent *event, unsigned int)
{
    return give(event, 1);
}

CUresult cuEventDestroy_v2(CUevent)
{
    return done();
}

CUresult cuEventRecord(CUevent, CUstream)
{
    return done();
}

CUresult cuEventQuery(CUevent)
{
    return done();
}

CUresult cuEventSynchronize(CUevent)
{
    return done();
}

} // extern "C"
