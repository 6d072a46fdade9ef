// SPDX-License-Identifier: MIT
#include "samples/ptask/paper/null/null.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace {

/* Not memory: nobody looks. */
std::atomic<CUdeviceptr> next_address{1 << 20};

template <typename Handle> CUresult give(Handle *to)
{
    *to = reinterpret_cast<Handle>(static_cast<std::uintptr_t>(next_address.fetch_add(1 << 8)));
    return ptsched_null_call();
}

} // namespace

CUresult cuGetErrorName(CUresult, const char **name)
{
    *name = "CUDA_ERROR";
    return ptsched_null_call();
}

CUresult cuDeviceGetCount(int *count)
{
    *count = 1;
    return ptsched_null_call();
}

CUresult cuDeviceGetName(char *name, int length, CUdevice)
{
    std::snprintf(name, static_cast<std::size_t>(length), "null");
    return ptsched_null_call();
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice)
{
    return give(context);
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    *context = nullptr;
    return ptsched_null_call();
}

CUresult cuMemHostAlloc(void **pointer, std::size_t bytes, unsigned int)
{
    *pointer = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    return *pointer ? ptsched_null_call() : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFreeHost(void *pointer)
{
    std::free(pointer);
    return ptsched_null_call();
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, std::size_t bytes)
{
    *pointer = next_address.fetch_add((bytes + 255) / 256 * 256);
    return ptsched_null_call();
}

CUresult cuMemGetInfo_v2(std::size_t *left, std::size_t *all)
{
    *left = *all = std::size_t{1} << 40;
    return ptsched_null_call();
}

CUresult cuModuleLoad(CUmodule *module, const char *)
{
    return give(module);
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule, const char *)
{
    return give(function);
}

CUresult cuStreamCreate(CUstream *stream, unsigned int)
{
    return give(stream);
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int, int)
{
    return give(stream);
}

CUresult cuEventCreate(CUevent *event, unsigned int)
{
    return give(event);
}
