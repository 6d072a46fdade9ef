// SPDX-License-Identifier: MIT
/* Streams and host functions. */
#include "tests/vgpu/libcuda/work.h"

#include <algorithm>

namespace vgpu {

CUresult find_stream(CUstream handle, StreamPtr &stream)
{
    State &s = state();
    CUcontext context;

    if (!handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
        VGPU_TRY(current_context(context));
        if (handle != CU_STREAM_PER_THREAD) {
            stream = context->legacy;
            return CUDA_SUCCESS;
        }
        auto &own = context->per_thread[thread_number()];
        if (!own)
            own = add_stream(context, CU_STREAM_DEFAULT, 0, false);
        stream = own;
        return CUDA_SUCCESS;
    }
    auto found = s.streams.find(handle);
    if (found == s.streams.end())
        return CUDA_ERROR_INVALID_HANDLE;
    stream = found->second;
    return CUDA_SUCCESS;
}

} // namespace vgpu

using namespace vgpu;

VGPU_EXPORT CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
    CUcontext context;

    VGPU_ENTER(lock);
    if (!stream || flags & ~static_cast<unsigned int>(CU_STREAM_NON_BLOCKING))
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(current_context(context));
    VGPU_TRY(state().lost);
    *stream = add_stream(context, flags, std::clamp(priority, -5, 0), false).get();
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
    return cuStreamCreateWithPriority(stream, flags, 0);
}

VGPU_EXPORT CUresult cuStreamDestroy_v2(CUstream handle)
{
    StreamPtr stream;

    VGPU_ENTER(lock);
    if (!handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD)
        return CUDA_ERROR_INVALID_HANDLE;
    VGPU_TRY(find_stream(handle, stream));
    leave_capture(stream);
    remove_stream(stream);
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuStreamGetPriority(CUstream handle, int *priority)
{
    StreamPtr stream;

    VGPU_ENTER(lock);
    if (!priority)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(find_stream(handle, stream));
    *priority = stream->priority;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuStreamGetFlags(CUstream handle, unsigned int *flags)
{
    StreamPtr stream;

    VGPU_ENTER(lock);
    if (!flags)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(find_stream(handle, stream));
    *flags = stream->flags;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuStreamGetId(CUstream handle, unsigned long long *id)
{
    StreamPtr stream;

    VGPU_ENTER(lock);
    if (!id)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(find_stream(handle, stream));
    *id = stream->id;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuStreamGetCtx(CUstream handle, CUcontext *context)
{
    StreamPtr stream;

    VGPU_ENTER(lock);
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(find_stream(handle, stream));
    *context = stream->context;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuStreamQuery(CUstream handle)
{
    StreamPtr stream;

    VGPU_ENTER(lock);
    VGPU_TRY(find_stream(handle, stream));
    VGPU_TRY(refuse_if_capturing(stream));
    VGPU_TRY(refuse_implicit(stream));
    auto busy = [](const CUstream_st &other) { return other.last && !other.last->done; };
    if (state().lost)
        return state().lost;
    if (busy(*stream))
        return CUDA_ERROR_NOT_READY;
    if (stream->legacy)
        for (const auto &[other_handle, other] : stream->context->streams)
            if (other->blocking() && busy(*other))
                return CUDA_ERROR_NOT_READY;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuStreamSynchronize(CUstream handle)
{
    StreamPtr stream;

    VGPU_ENTER(lock);
    VGPU_TRY(find_stream(handle, stream));
    VGPU_TRY(refuse_if_capturing(stream));
    VGPU_TRY(refuse_implicit(stream));
    return wait_stream(lock, stream);
}

VGPU_EXPORT CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void *data)
{
    StreamPtr stream;

    VGPU_ENTER(lock);
    if (!function)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(find_stream(handle, stream));
    return dispatch(lock, stream, host_work(function, data));
}

VGPU_EXPORT CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void *data, unsigned int flags)
{
    StreamPtr stream;

    VGPU_ENTER(lock);
    if (!callback || flags)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(find_stream(handle, stream));
    VGPU_TRY(refuse_if_capturing(stream));
    VGPU_TRY(refuse_implicit(stream));
    Op op;
    op.on_host = true;
    op.body = [=] {
        callback(handle, CUDA_SUCCESS, data);
        return std::uint64_t{0};
    };
    return enqueue(lock, stream, std::move(op));
}

VGPU_EXPORT CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr pointer, std::size_t length,
                                            unsigned int flags)
{
    StreamPtr stream;

    VGPU_ENTER(lock);
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(find_stream(handle, stream));
    VGPU_TRY(check_device_range(pointer, length ? length : 1));
    return dispatch(lock, stream, {});
}
