// SPDX-License-Identifier: MIT
/*
 * Stream capture, with the refusals of the real driver: whoever synchronises or polls a capturing stream spoils the
 * capture, so that a library that meddles is found out.
 */
#include "tests/vgpu/libcuda/work.h"

#include <algorithm>

namespace vgpu {

namespace {

thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

void add_unique(std::vector<CUgraphNode> &to, const std::vector<CUgraphNode> &from)
{
    for (CUgraphNode node : from)
        if (std::find(to.begin(), to.end(), node) == to.end())
            to.push_back(node);
}

CUresult check_capture(const Capture &capture)
{
    return capture.invalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

/* Ends a capture for all its streams. */
void finish(const std::shared_ptr<Capture> &capture)
{
    State &s = state();

    for (CUstream handle : capture->streams) {
        auto found = s.streams.find(handle);
        if (found == s.streams.end())
            continue;
        found->second->capture = nullptr;
        found->second->capture_tail.clear();
    }
    s.captures.erase(capture);
}

/* Does every other stream's last node lead to the origin's? */
bool all_joined(const Capture &capture, const std::vector<CUgraphNode> &tail)
{
    std::set<CUgraphNode> reached;
    std::vector<CUgraphNode> open(tail);

    while (!open.empty()) {
        CUgraphNode node = open.back();
        open.pop_back();
        if (reached.insert(node).second)
            open.insert(open.end(), node->dependencies.begin(), node->dependencies.end());
    }
    return std::all_of(capture.graph->nodes.begin(), capture.graph->nodes.end(),
                       [&](const auto &node) { return reached.count(node.get()); });
}

CUresult capture_info(CUstream handle, CUstreamCaptureStatus *status, std::uint64_t *id, CUgraph *graph,
                      const CUgraphNode **dependencies, std::size_t *count)
{
    StreamPtr stream;

    VGPU_ENTER(lock);
    if (!status)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(find_stream(handle, stream));
    VGPU_TRY(refuse_implicit(stream));
    if (!stream->capture) {
        *status = CU_STREAM_CAPTURE_STATUS_NONE;
        return CUDA_SUCCESS;
    }
    *status = stream->capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (id)
        *id = stream->capture->id;
    if (graph)
        *graph = stream->capture->graph;
    if (dependencies)
        *dependencies = stream->capture_tail.data();
    if (count)
        *count = stream->capture_tail.size();
    return CUDA_SUCCESS;
}

} // namespace

CUresult refuse_if_capturing(const StreamPtr &stream)
{
    if (!stream->capture)
        return CUDA_SUCCESS;
    VGPU_TRY(check_capture(*stream->capture));
    stream->capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult refuse_if_unsafe()
{
    CUresult result = CUDA_SUCCESS;

    if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_SUCCESS;
    for (const auto &capture : state().captures) {
        bool own = capture->thread == thread_number();
        bool forbids =
            own ? capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED
                : capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
        if (!forbids)
            continue;
        capture->invalidated = true;
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return result;
}

CUresult refuse_if_context_captures(CUcontext context)
{
    CUresult result = CUDA_SUCCESS;

    for (const auto &[handle, stream] : context->streams) {
        if (!stream->capture)
            continue;
        stream->capture->invalidated = true;
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return result;
}

CUresult refuse_implicit(const StreamPtr &stream)
{
    CUresult result = CUDA_SUCCESS;

    if (!stream->legacy || state().captures.empty())
        return CUDA_SUCCESS;
    for (const auto &[handle, other] : stream->context->streams) {
        if (!other->capture || !other->blocking())
            continue;
        other->capture->invalidated = true;
        result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    return result;
}

CUresult capture_work(const StreamPtr &stream, const Work &work)
{
    VGPU_TRY(check_capture(*stream->capture));
    stream->capture_tail = {add_node(stream->capture->graph, work, stream->capture_tail)};
    return CUDA_SUCCESS;
}

CUresult capture_record(const StreamPtr &stream, CUevent event)
{
    VGPU_TRY(check_capture(*stream->capture));
    event->marker = nullptr;
    event->capture = stream->capture;
    event->captured = stream->capture_tail;
    return CUDA_SUCCESS;
}

/* Joins what the event stands for; a stream that is not capturing yet becomes part of the event's capture. */
CUresult capture_wait(const StreamPtr &stream, CUevent event)
{
    bool captured = event->capture && state().captures.count(event->capture);

    if (stream->capture) {
        VGPU_TRY(check_capture(*stream->capture));
        if (!captured) {
            stream->capture->invalidated = true;
            return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
        }
        if (event->capture != stream->capture) {
            stream->capture->invalidated = true;
            event->capture->invalidated = true;
            return CUDA_ERROR_STREAM_CAPTURE_MERGE;
        }
    } else {
        VGPU_TRY(check_capture(*event->capture));
        if (stream->legacy) {
            event->capture->invalidated = true;
            return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        }
        stream->capture = event->capture;
        stream->capture->streams.insert(stream.get());
    }
    add_unique(stream->capture_tail, event->captured);
    return CUDA_SUCCESS;
}

/* A capturing stream that goes away takes its capture with it. */
void leave_capture(const StreamPtr &stream)
{
    std::shared_ptr<Capture> capture = stream->capture;

    if (!capture)
        return;
    capture->invalidated = true;
    capture->streams.erase(stream.get());
    stream->capture = nullptr;
    stream->capture_tail.clear();
    if (capture->origin == stream.get()) {
        finish(capture);
        delete_graph(capture->graph);
    }
}

} // namespace vgpu

using namespace vgpu;

VGPU_EXPORT CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode)
{
    State &s = state();
    StreamPtr stream;

    VGPU_ENTER(lock);
    if (mode < CU_STREAM_CAPTURE_MODE_GLOBAL || mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(find_stream(handle, stream));
    if (stream->legacy)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (stream->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    stream->capture = std::make_shared<Capture>();
    stream->capture->graph = new_graph();
    stream->capture->origin = stream.get();
    stream->capture->mode = mode;
    stream->capture->thread = thread_number();
    stream->capture->id = ++s.ids;
    stream->capture->streams.insert(stream.get());
    s.captures.insert(stream->capture);
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph)
{
    StreamPtr stream;
    CUresult result = CUDA_SUCCESS;

    VGPU_ENTER(lock);
    if (!graph)
        return CUDA_ERROR_INVALID_VALUE;
    *graph = nullptr;
    VGPU_TRY(find_stream(handle, stream));
    if (!stream->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    std::shared_ptr<Capture> capture = stream->capture;
    if (capture->origin != stream.get()) {
        capture->invalidated = true;
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != thread_number())
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    if (capture->invalidated)
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (!all_joined(*capture, stream->capture_tail))
        result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    finish(capture);
    if (result)
        delete_graph(capture->graph);
    else
        *graph = capture->graph;
    return result;
}

VGPU_EXPORT CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status)
{
    return capture_info(handle, status, nullptr, nullptr, nullptr, nullptr);
}

VGPU_EXPORT CUresult cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus *status, std::uint64_t *id)
{
    return capture_info(handle, status, id, nullptr, nullptr, nullptr);
}

VGPU_EXPORT CUresult cuStreamGetCaptureInfo_v2(CUstream handle, CUstreamCaptureStatus *status, std::uint64_t *id,
                                               CUgraph *graph, const CUgraphNode **dependencies, std::size_t *count)
{
    return capture_info(handle, status, id, graph, dependencies, count);
}

VGPU_EXPORT CUresult cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus *status, std::uint64_t *id,
                                               CUgraph *graph, const CUgraphNode **dependencies,
                                               const CUgraphEdgeData **edges, std::size_t *count)
{
    if (edges)
        *edges = nullptr;
    return capture_info(handle, status, id, graph, dependencies, count);
}

VGPU_EXPORT CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    if (!mode || *mode < CU_STREAM_CAPTURE_MODE_GLOBAL || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    std::swap(*mode, thread_mode);
    return CUDA_SUCCESS;
}
