// SPDX-License-Identifier: MIT
/* Copies and fills, synchronous and asynchronous. */
#include "tests/vgpu/libcuda/work.h"

using namespace vgpu;

namespace {

enum Side { device_side, host_side, any_side };

CUresult check_side(Side side, std::uintptr_t address, std::size_t bytes)
{
    if (!address)
        return CUDA_ERROR_INVALID_VALUE;
    return side == device_side ? check_device_range(address, bytes) : check_host_range(address, bytes);
}

/* Enqueues; then, for the synchronous forms, waits. */
CUresult perform(Guard &lock, CUstream handle, const Work &work, bool wait)
{
    StreamPtr stream;

    VGPU_TRY(find_stream(handle, stream));
    if (wait)
        VGPU_TRY(refuse_if_capturing(stream));
    VGPU_TRY(dispatch(lock, stream, work));
    MarkerPtr last = stream->last;
    return wait ? wait_done(lock, last) : CUDA_SUCCESS;
}

CUresult copy_bytes(std::uintptr_t to, Side to_side, std::uintptr_t from, Side from_side, std::size_t bytes,
                    CUstream stream, bool wait)
{
    VGPU_ENTER(lock);
    if (!bytes)
        return CUDA_SUCCESS;
    VGPU_TRY(check_side(to_side, to, bytes));
    VGPU_TRY(check_side(from_side, from, bytes));
    Copy copy;
    copy.to = reinterpret_cast<char *>(to);
    copy.from = reinterpret_cast<const char *>(from);
    copy.to_device = to_side != host_side;
    copy.from_device = from_side != host_side;
    copy.width = bytes;
    return perform(lock, stream, copy_work(copy), wait);
}

CUresult copy_peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, std::size_t bytes,
                   CUstream stream, bool wait)
{
    VGPU_ENTER(lock);
    VGPU_TRY(check_range_of(to_context, to, bytes));
    VGPU_TRY(check_range_of(from_context, from, bytes));
    lock.unlock();
    return copy_bytes(to, device_side, from, device_side, bytes, stream, wait);
}

template <typename Params> CUresult copy_box(const Params *params, CUstream stream, bool wait)
{
    Copy copy;

    VGPU_ENTER(lock);
    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(make_copy(*params, copy));
    return perform(lock, stream, copy_work(copy), wait);
}

CUresult fill(CUdeviceptr to, std::size_t pitch, unsigned int value, unsigned int element_bytes, std::size_t width,
              std::size_t height, CUstream stream, bool wait)
{
    VGPU_ENTER(lock);
    if (!width || !height)
        return CUDA_SUCCESS;
    if (to % element_bytes || pitch % element_bytes || (height > 1 && pitch < width * element_bytes))
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(check_device_range(to, (height - 1) * pitch + width * element_bytes));
    Fill box;
    box.to = as_pointer<char>(to);
    box.pitch = pitch;
    box.value = value;
    box.element_bytes = element_bytes;
    box.width = width;
    box.height = height;
    return perform(lock, stream, fill_work(box), wait);
}

std::uintptr_t address(const void *pointer)
{
    return reinterpret_cast<std::uintptr_t>(pointer);
}

} // namespace

/* A synchronous form, and its twin that uses the calling thread's default stream. */
#define VGPU_SYNC(name, params, call)                                                                                  \
    VGPU_EXPORT CUresult name params                                                                                   \
    {                                                                                                                  \
        CUstream stream = CU_STREAM_LEGACY;                                                                            \
        return call;                                                                                                   \
    }                                                                                                                  \
    VGPU_EXPORT CUresult name##_ptds params                                                                            \
    {                                                                                                                  \
        CUstream stream = CU_STREAM_PER_THREAD;                                                                        \
        return call;                                                                                                   \
    }

VGPU_SYNC(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes),
          copy_bytes(to, any_side, from, any_side, bytes, stream, true))
VGPU_SYNC(cuMemcpyPeer,
          (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, std::size_t bytes),
          copy_peer(to, to_context, from, from_context, bytes, stream, true))
VGPU_SYNC(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, std::size_t bytes),
          copy_bytes(to, device_side, address(from), host_side, bytes, stream, true))
VGPU_SYNC(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, std::size_t bytes),
          copy_bytes(address(to), host_side, from, device_side, bytes, stream, true))
VGPU_SYNC(cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes),
          copy_bytes(to, device_side, from, device_side, bytes, stream, true))
VGPU_SYNC(cuMemcpy2D_v2, (const CUDA_MEMCPY2D *copy), copy_box(copy, stream, true))
VGPU_SYNC(cuMemcpy2DUnaligned_v2, (const CUDA_MEMCPY2D *copy), copy_box(copy, stream, true))
VGPU_SYNC(cuMemcpy3D_v2, (const CUDA_MEMCPY3D *copy), copy_box(copy, stream, true))

VGPU_SYNC(cuMemsetD8_v2, (CUdeviceptr to, unsigned char value, std::size_t count),
          fill(to, 0, value, 1, count, 1, stream, true))
VGPU_SYNC(cuMemsetD16_v2, (CUdeviceptr to, unsigned short value, std::size_t count),
          fill(to, 0, value, 2, count, 1, stream, true))
VGPU_SYNC(cuMemsetD32_v2, (CUdeviceptr to, unsigned int value, std::size_t count),
          fill(to, 0, value, 4, count, 1, stream, true))
VGPU_SYNC(cuMemsetD2D8_v2,
          (CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width, std::size_t height),
          fill(to, pitch, value, 1, width, height, stream, true))
VGPU_SYNC(cuMemsetD2D16_v2,
          (CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width, std::size_t height),
          fill(to, pitch, value, 2, width, height, stream, true))
VGPU_SYNC(cuMemsetD2D32_v2,
          (CUdeviceptr to, std::size_t pitch, unsigned int value, std::size_t width, std::size_t height),
          fill(to, pitch, value, 4, width, height, stream, true))

VGPU_EXPORT CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream)
{
    return copy_bytes(to, any_side, from, any_side, bytes, stream, false);
}

VGPU_EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                                       std::size_t bytes, CUstream stream)
{
    return copy_peer(to, to_context, from, from_context, bytes, stream, false);
}

VGPU_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, std::size_t bytes, CUstream stream)
{
    return copy_bytes(to, device_side, address(from), host_side, bytes, stream, false);
}

VGPU_EXPORT CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, std::size_t bytes, CUstream stream)
{
    return copy_bytes(address(to), host_side, from, device_side, bytes, stream, false);
}

VGPU_EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream)
{
    return copy_bytes(to, device_side, from, device_side, bytes, stream, false);
}

VGPU_EXPORT CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    return copy_box(copy, stream, false);
}

VGPU_EXPORT CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copy, CUstream stream)
{
    return copy_box(copy, stream, false);
}

VGPU_EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream)
{
    return fill(to, 0, value, 1, count, 1, stream, false);
}

VGPU_EXPORT CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count, CUstream stream)
{
    return fill(to, 0, value, 2, count, 1, stream, false);
}

VGPU_EXPORT CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, std::size_t count, CUstream stream)
{
    return fill(to, 0, value, 4, count, 1, stream, false);
}

VGPU_EXPORT CUresult cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                                       std::size_t height, CUstream stream)
{
    return fill(to, pitch, value, 1, width, height, stream, false);
}

VGPU_EXPORT CUresult cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                                        std::size_t height, CUstream stream)
{
    return fill(to, pitch, value, 2, width, height, stream, false);
}

VGPU_EXPORT CUresult cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned int value, std::size_t width,
                                        std::size_t height, CUstream stream)
{
    return fill(to, pitch, value, 4, width, height, stream, false);
}
