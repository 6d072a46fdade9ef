// SPDX-License-Identifier: MIT
/* The entry points of programs that are built with a default stream per thread: NULL means that one. */
#include "tests/vgpu/libcuda/runtime.h"

using vgpu::per_thread;

VGPU_EXPORT CUresult cuStreamGetPriority_ptsz(CUstream stream, int *priority)
{
    return cuStreamGetPriority(per_thread(stream), priority);
}

VGPU_EXPORT CUresult cuStreamGetFlags_ptsz(CUstream stream, unsigned int *flags)
{
    return cuStreamGetFlags(per_thread(stream), flags);
}

VGPU_EXPORT CUresult cuStreamGetId_ptsz(CUstream stream, unsigned long long *id)
{
    return cuStreamGetId(per_thread(stream), id);
}

VGPU_EXPORT CUresult cuStreamGetCtx_ptsz(CUstream stream, CUcontext *context)
{
    return cuStreamGetCtx(per_thread(stream), context);
}

VGPU_EXPORT CUresult cuStreamQuery_ptsz(CUstream stream)
{
    return cuStreamQuery(per_thread(stream));
}

VGPU_EXPORT CUresult cuStreamSynchronize_ptsz(CUstream stream)
{
    return cuStreamSynchronize(per_thread(stream));
}

VGPU_EXPORT CUresult cuStreamWaitEvent_ptsz(CUstream stream, CUevent event, unsigned int flags)
{
    return cuStreamWaitEvent(per_thread(stream), event, flags);
}

VGPU_EXPORT CUresult cuStreamAddCallback_ptsz(CUstream stream, CUstreamCallback callback, void *data,
                                              unsigned int flags)
{
    return cuStreamAddCallback(per_thread(stream), callback, data, flags);
}

VGPU_EXPORT CUresult cuStreamAttachMemAsync_ptsz(CUstream stream, CUdeviceptr pointer, std::size_t length,
                                                 unsigned int flags)
{
    return cuStreamAttachMemAsync(per_thread(stream), pointer, length, flags);
}

VGPU_EXPORT CUresult cuEventRecord_ptsz(CUevent event, CUstream stream)
{
    return cuEventRecord(event, per_thread(stream));
}

VGPU_EXPORT CUresult cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned int flags)
{
    return cuEventRecordWithFlags(event, per_thread(stream), flags);
}

VGPU_EXPORT CUresult cuLaunchKernel_ptsz(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                         unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                         unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                                         void **params, void **extra)
{
    return cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, per_thread(stream),
                          params, extra);
}

VGPU_EXPORT CUresult cuLaunchCooperativeKernel_ptsz(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                                    unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                                    unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                                                    void **params)
{
    return cuLaunchCooperativeKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                                     per_thread(stream), params);
}

VGPU_EXPORT CUresult cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn function, void *data)
{
    return cuLaunchHostFunc(per_thread(stream), function, data);
}

VGPU_EXPORT CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, CUstreamCaptureMode mode)
{
    return cuStreamBeginCapture_v2(per_thread(stream), mode);
}

VGPU_EXPORT CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph *graph)
{
    return cuStreamEndCapture(per_thread(stream), graph);
}

VGPU_EXPORT CUresult cuStreamIsCapturing_ptsz(CUstream stream, CUstreamCaptureStatus *status)
{
    return cuStreamIsCapturing(per_thread(stream), status);
}

VGPU_EXPORT CUresult cuStreamGetCaptureInfo_ptsz(CUstream stream, CUstreamCaptureStatus *status, std::uint64_t *id)
{
    return cuStreamGetCaptureInfo(per_thread(stream), status, id);
}

VGPU_EXPORT CUresult cuStreamGetCaptureInfo_v2_ptsz(CUstream stream, CUstreamCaptureStatus *status, std::uint64_t *id,
                                                    CUgraph *graph, const CUgraphNode **dependencies,
                                                    std::size_t *count)
{
    return cuStreamGetCaptureInfo_v2(per_thread(stream), status, id, graph, dependencies, count);
}

VGPU_EXPORT CUresult cuStreamGetCaptureInfo_v3_ptsz(CUstream stream, CUstreamCaptureStatus *status, std::uint64_t *id,
                                                    CUgraph *graph, const CUgraphNode **dependencies,
                                                    const CUgraphEdgeData **edges, std::size_t *count)
{
    return cuStreamGetCaptureInfo_v3(per_thread(stream), status, id, graph, dependencies, edges, count);
}

VGPU_EXPORT CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream)
{
    return cuGraphLaunch(exec, per_thread(stream));
}

VGPU_EXPORT CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream)
{
    return cuGraphUpload(exec, per_thread(stream));
}

VGPU_EXPORT CUresult cuMemAllocAsync_ptsz(CUdeviceptr *pointer, std::size_t bytes, CUstream stream)
{
    return cuMemAllocAsync(pointer, bytes, per_thread(stream));
}

VGPU_EXPORT CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *pointer, std::size_t bytes, CUmemoryPool pool,
                                                  CUstream stream)
{
    return cuMemAllocFromPoolAsync(pointer, bytes, pool, per_thread(stream));
}

VGPU_EXPORT CUresult cuMemFreeAsync_ptsz(CUdeviceptr pointer, CUstream stream)
{
    return cuMemFreeAsync(pointer, per_thread(stream));
}

VGPU_EXPORT CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr pointer, std::size_t bytes, CUdevice device, CUstream stream)
{
    return cuMemPrefetchAsync(pointer, bytes, device, per_thread(stream));
}

VGPU_EXPORT CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr pointer, std::size_t bytes, CUmemLocation location,
                                                unsigned int flags, CUstream stream)
{
    return cuMemPrefetchAsync_v2(pointer, bytes, location, flags, per_thread(stream));
}

VGPU_EXPORT CUresult cuMemcpyAsync_ptsz(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream)
{
    return cuMemcpyAsync(to, from, bytes, per_thread(stream));
}

VGPU_EXPORT CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                            CUcontext from_context, std::size_t bytes, CUstream stream)
{
    return cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, per_thread(stream));
}

VGPU_EXPORT CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr to, const void *from, std::size_t bytes, CUstream stream)
{
    return cuMemcpyHtoDAsync_v2(to, from, bytes, per_thread(stream));
}

VGPU_EXPORT CUresult cuMemcpyDtoHAsync_v2_ptsz(void *to, CUdeviceptr from, std::size_t bytes, CUstream stream)
{
    return cuMemcpyDtoHAsync_v2(to, from, bytes, per_thread(stream));
}

VGPU_EXPORT CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream)
{
    return cuMemcpyDtoDAsync_v2(to, from, bytes, per_thread(stream));
}

VGPU_EXPORT CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    return cuMemcpy2DAsync_v2(copy, per_thread(stream));
}

VGPU_EXPORT CUresult cuMemcpy3DAsync_v2_ptsz(const CUDA_MEMCPY3D *copy, CUstream stream)
{
    return cuMemcpy3DAsync_v2(copy, per_thread(stream));
}

VGPU_EXPORT CUresult cuMemsetD8Async_ptsz(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream)
{
    return cuMemsetD8Async(to, value, count, per_thread(stream));
}

VGPU_EXPORT CUresult cuMemsetD16Async_ptsz(CUdeviceptr to, unsigned short value, std::size_t count, CUstream stream)
{
    return cuMemsetD16Async(to, value, count, per_thread(stream));
}

VGPU_EXPORT CUresult cuMemsetD32Async_ptsz(CUdeviceptr to, unsigned int value, std::size_t count, CUstream stream)
{
    return cuMemsetD32Async(to, value, count, per_thread(stream));
}

VGPU_EXPORT CUresult cuMemsetD2D8Async_ptsz(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                                            std::size_t height, CUstream stream)
{
    return cuMemsetD2D8Async(to, pitch, value, width, height, per_thread(stream));
}

VGPU_EXPORT CUresult cuMemsetD2D16Async_ptsz(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                                             std::size_t height, CUstream stream)
{
    return cuMemsetD2D16Async(to, pitch, value, width, height, per_thread(stream));
}

VGPU_EXPORT CUresult cuMemsetD2D32Async_ptsz(CUdeviceptr to, std::size_t pitch, unsigned int value, std::size_t width,
                                             std::size_t height, CUstream stream)
{
    return cuMemsetD2D32Async(to, pitch, value, width, height, per_thread(stream));
}
