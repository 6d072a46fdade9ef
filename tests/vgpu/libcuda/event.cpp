// SPDX-License-Identifier: MIT
/* Events: marks in a stream's order that streams and the host wait for. */
#include "tests/vgpu/libcuda/work.h"

namespace vgpu {

CUresult check_event(CUevent event)
{
    return event && state().events.count(event) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

} // namespace vgpu

using namespace vgpu;

namespace {

/* An event that a capture recorded stands for graph nodes; asking after it spoils the capture. */
CUresult refuse_captured(CUevent event)
{
    if (!event->capture || !state().captures.count(event->capture))
        return CUDA_SUCCESS;
    event->capture->invalidated = true;
    return CUDA_ERROR_CAPTURED_EVENT;
}

} // namespace

VGPU_EXPORT CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
    CUcontext context;

    VGPU_ENTER(lock);
    if (!event || flags > (CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS))
        return CUDA_ERROR_INVALID_VALUE;
    if (flags & CU_EVENT_INTERPROCESS)
        return CUDA_ERROR_NOT_SUPPORTED;
    VGPU_TRY(current_context(context));
    VGPU_TRY(state().lost);
    *event = new CUevent_st{context, flags, nullptr, nullptr, {}};
    state().events.insert(*event);
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuEventDestroy_v2(CUevent event)
{
    VGPU_ENTER(lock);
    VGPU_TRY(check_event(event));
    state().events.erase(event);
    delete event;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuEventRecordWithFlags(CUevent event, CUstream handle, unsigned int flags)
{
    StreamPtr stream;

    VGPU_ENTER(lock);
    VGPU_TRY(check_event(event));
    if (flags > CU_EVENT_RECORD_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags)
        return CUDA_ERROR_NOT_SUPPORTED;
    VGPU_TRY(find_stream(handle, stream));
    if (event->context != stream->context)
        return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture)
        return capture_record(stream, event);
    VGPU_TRY(refuse_implicit(stream));
    Op op;
    op.light = true;
    event->marker = op.marker;
    event->capture = nullptr;
    event->captured.clear();
    return enqueue(lock, stream, std::move(op));
}

VGPU_EXPORT CUresult cuEventRecord(CUevent event, CUstream stream)
{
    return cuEventRecordWithFlags(event, stream, 0);
}

VGPU_EXPORT CUresult cuEventQuery(CUevent event)
{
    VGPU_ENTER(lock);
    VGPU_TRY(check_event(event));
    VGPU_TRY(refuse_captured(event));
    VGPU_TRY(refuse_if_unsafe());
    if (state().lost)
        return state().lost;
    return !event->marker || event->marker->done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

VGPU_EXPORT CUresult cuEventSynchronize(CUevent event)
{
    VGPU_ENTER(lock);
    VGPU_TRY(check_event(event));
    VGPU_TRY(refuse_captured(event));
    VGPU_TRY(refuse_if_unsafe());
    MarkerPtr marker = event->marker;
    return wait_done(lock, marker);
}

VGPU_EXPORT CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end)
{
    VGPU_ENTER(lock);
    if (!milliseconds)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(check_event(start));
    VGPU_TRY(check_event(end));
    VGPU_TRY(refuse_captured(start));
    VGPU_TRY(refuse_captured(end));
    if ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING || !start->marker || !end->marker)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!start->marker->done || !end->marker->done)
        return CUDA_ERROR_NOT_READY;
    auto difference = static_cast<std::int64_t>(end->marker->end_ns - start->marker->end_ns);
    *milliseconds = static_cast<float>(static_cast<double>(difference) / 1e6);
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    return cuEventElapsedTime_v2(milliseconds, start, end);
}

VGPU_EXPORT CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned int flags)
{
    StreamPtr stream;

    VGPU_ENTER(lock);
    VGPU_TRY(check_event(event));
    if (flags > CU_EVENT_WAIT_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags)
        return CUDA_ERROR_NOT_SUPPORTED;
    VGPU_TRY(find_stream(handle, stream));
    if (stream->capture || (event->capture && state().captures.count(event->capture)))
        return capture_wait(stream, event);
    VGPU_TRY(refuse_implicit(stream));
    if (!event->marker || event->marker->done)
        return CUDA_SUCCESS;
    Op op;
    op.light = true;
    op.waits.push_back(event->marker);
    return enqueue(lock, stream, std::move(op));
}
