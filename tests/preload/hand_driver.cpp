// SPDX-License-Identifier: MIT
#include "tests/preload/hand_driver.h"

#include "libptsched/base/lock.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#define EXPORT __attribute__((visibility("default")))

/* Opaque to programs; complete here. */
struct CUctx_st {
    CUdevice device;
};
struct CUgraph_st {
    unsigned long nodes;
    bool invalid{false}; /* the legacy stream was used while it was captured */
};
struct CUgraphExec_st {
    unsigned long nodes;
};
struct CUstream_st {
    CUctx_st *context;
    unsigned long submitted{0}, completed{0};
    CUgraph graph{nullptr};
    unsigned long clock_us{0}; /* so long its submissions have taken; in time, when the last of them ends */
};
struct CUevent_st {
    CUstream_st *stream;
    unsigned long position, clock_us;
};

namespace {

/* Of those that the program replaces, some call others. */
using RecursiveMutex PTSCHED_CAPABILITY("mutex") = std::recursive_mutex;
RecursiveMutex lock;
std::map<std::string, unsigned long> calls PTSCHED_GUARDED_BY(lock);
CUctx_st contexts[2] = {{0}, {1}};
CUstream_st legacy[2] = {{&contexts[0]}, {&contexts[1]}};
std::set<CUstream_st *> streams PTSCHED_GUARDED_BY(lock) = {&legacy[0], &legacy[1]};
bool by_itself PTSCHED_GUARDED_BY(lock) = true;
bool in_time PTSCHED_GUARDED_BY(lock) = false;
const test::HandClock *test_clock = nullptr;
unsigned long submission_us PTSCHED_GUARDED_BY(lock) = 1000;
float nothing_ms PTSCHED_GUARDED_BY(lock) = 0, events_ms PTSCHED_GUARDED_BY(lock) = 0;
std::atomic<bool> nothing{false};
unsigned long events PTSCHED_GUARDED_BY(lock), events_captured PTSCHED_GUARDED_BY(lock),
    events_on_legacy PTSCHED_GUARDED_BY(lock);
unsigned long events_there PTSCHED_GUARDED_BY(lock), events_most PTSCHED_GUARDED_BY(lock) = ~0ul;
std::atomic<bool> captures_held{false};
std::atomic<int> captures_beginning{0};
CUresult event_answer PTSCHED_GUARDED_BY(lock) = CUDA_SUCCESS;
std::atomic<int> primary_active{1};
thread_local CUcontext current;
thread_local void (*next_submission_does)();
thread_local CUstream_st *own[2]; /* as a driver's, they outlive their thread while there is work */

CUstream_st *find(CUstream handle, bool ptsz) PTSCHED_REQUIRES(lock)
{
    if (!current && (handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD))
        return nullptr;
    if (handle == CU_STREAM_PER_THREAD || (!handle && ptsz)) {
        CUstream_st *&stream = own[current->device];
        if (!stream)
            streams.insert(stream = new CUstream_st{current});
        return stream;
    }
    if (!handle || handle == CU_STREAM_LEGACY)
        return &legacy[current->device];
    return streams.count(handle) ? handle : nullptr;
}

unsigned long now_us()
{
    return test_clock->now_ns() / 1000;
}

bool has_completed(const CUevent_st &event) PTSCHED_REQUIRES(lock)
{
    if (in_time)
        return event.clock_us <= now_us();
    return event.stream->completed >= event.position;
}

bool is_idle(const CUstream_st &stream) PTSCHED_REQUIRES(lock)
{
    return in_time ? stream.clock_us <= now_us() : stream.completed >= stream.submitted;
}

bool is_legacy(const CUstream_st *stream)
{
    return stream == &legacy[0] || stream == &legacy[1];
}

/* Whether any stream is. */
bool captured() PTSCHED_REQUIRES(lock)
{
    return std::any_of(streams.begin(), streams.end(), [](const CUstream_st *stream) { return stream->graph; });
}

CUresult called(const char *name)
{
    ptsched::Guard guard(lock);
    calls[name]++;
    return CUDA_SUCCESS;
}

CUresult submitted(const char *name, bool ptsz, CUstream handle)
{
    if (nothing.load(std::memory_order_relaxed))
        return CUDA_SUCCESS;
    if (auto *body = std::exchange(next_submission_does, nullptr))
        body();
    ptsched::Guard guard(lock);
    calls[name]++;
    CUstream_st *stream = find(handle, ptsz);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (stream->graph) {
        stream->graph->nodes++;
        return CUDA_SUCCESS;
    }
    stream->submitted++;
    if (in_time)
        stream->clock_us = std::max(stream->clock_us, now_us());
    stream->clock_us += submission_us;
    if (by_itself)
        stream->completed = stream->submitted;
    return CUDA_SUCCESS;
}

} // namespace

/* The keys of entry_points.def mean nothing here; its streams do. */
static CUstream upload_stream(const CUDA_GRAPH_INSTANTIATE_PARAMS *how)
{
    return how->hUploadStream;
}

extern "C" {

#define SUBMIT(name, kind, params, args, stream, key)                                                                  \
    EXPORT CUresult name params                                                                                        \
    {                                                                                                                  \
        return submitted(#name, std::strcmp(#kind, "per_thread") == 0, stream);                                        \
    }
#define WATCH(name, params, args)                                                                                      \
    EXPORT CUresult name params                                                                                        \
    {                                                                                                                  \
        return called(#name);                                                                                          \
    }
#define SETTLE(name, params, args) WATCH(name, params, args)
#define BEGIN_CONTEXT(name, params, args) WATCH(name, params, args)
#define END_STREAM(name, params, args, stream) WATCH(name, params, args)
#define END_CONTEXT(name, params, args, context) WATCH(name, params, args)
#define END_DEVICE(name, params, args, device) WATCH(name, params, args)
#define CAPTURE(name, params, args)
#define cuEventQuery cuEventQuery_counted_only
#define cuStreamQuery cuStreamQuery_counted_only
#define cuStreamSynchronize cuStreamSynchronize_counted_only
#define cuDevicePrimaryCtxRetain cuDevicePrimaryCtxRetain_counted_only
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "libptsched/preload/driver/entry_points.def"
#pragma GCC diagnostic pop
#undef cuEventQuery
#undef cuStreamQuery
#undef cuStreamSynchronize
#undef cuDevicePrimaryCtxRetain

/* ---- the calls that do something ---- */

EXPORT CUresult cuInit(unsigned)
{
    return called("cuInit");
}

EXPORT CUresult cuDeviceGetCount(int *count)
{
    *count = 2;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetPCIBusId(char *id, int size, CUdevice device)
{
    std::snprintf(id, static_cast<std::size_t>(size), "0000:%02X:00.0", 0x1a + device);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice)
{
    *value = attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT ? HAND_MULTIPROCESSORS : 0;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction, int, std::size_t)
{
    *blocks = HAND_BLOCKS_AT_ONCE;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned *flags, int *active)
{
    *flags = 0;
    *active = primary_active;
    return CUDA_SUCCESS;
}

/* Contexts are there from the beginning: one per device. */
EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    *context = &contexts[device];
    return called("cuDevicePrimaryCtxRetain");
}

EXPORT CUresult hand_use_device(CUdevice device)
{
    current = &contexts[device];
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetCurrent(CUcontext *context)
{
    *context = current;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxSetCurrent(CUcontext context)
{
    current = context;
    return CUDA_SUCCESS;
}

static thread_local std::vector<CUcontext> pushed;

EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    pushed.push_back(current);
    current = context;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    *context = current;
    current = pushed.back();
    pushed.pop_back();
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetDevice(CUdevice *device)
{
    if (!current)
        return CUDA_ERROR_INVALID_CONTEXT;
    *device = current->device;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned)
{
    ptsched::Guard guard(lock);
    *stream = new CUstream_st{current};
    streams.insert(*stream);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamGetCtx(CUstream handle, CUcontext *context)
{
    ptsched::Guard guard(lock);
    CUstream_st *stream = find(handle, false);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    *context = stream->context;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status)
{
    ptsched::Guard guard(lock);
    CUstream_st *stream = find(handle, false);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    *status = stream->graph ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return is_legacy(stream) && captured() ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
}

/* As the driver does: the legacy stream is idle when all are, and asking for that ends captures. */
EXPORT CUresult cuStreamQuery(CUstream handle)
{
    ptsched::Guard guard(lock);
    calls["cuStreamQuery"]++;
    CUstream_st *asked = find(handle, false);
    if (!asked)
        return CUDA_ERROR_INVALID_HANDLE;
    bool ready = true, legal = true;
    for (CUstream_st *stream : streams) {
        if (stream != asked && !(is_legacy(asked) && stream->context == asked->context))
            continue;
        ready = ready && is_idle(*stream);
        if (stream->graph)
            stream->graph->invalid = true;
        legal = legal && !stream->graph;
    }
    if (!legal)
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    return ready ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

EXPORT CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    static thread_local CUstreamCaptureMode own_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    std::swap(own_mode, *mode);
    return CUDA_SUCCESS;
}

static CUresult begin_capture(const char *name, CUstream handle)
{
    captures_beginning++;
    {
        test::AsleepElsewhere asleep(
            test_clock, [](void *) { return !captures_held.load(); }, nullptr);
        captures_held.wait(true);
    }
    captures_beginning--;
    ptsched::Guard guard(lock);
    calls[name]++;
    CUstream_st *stream = find(handle, false);
    if (!stream || stream->graph)
        return CUDA_ERROR_ILLEGAL_STATE;
    stream->graph = new CUgraph_st{0};
    return CUDA_SUCCESS;
}

#define CAPTURES(name)                                                                                                 \
    EXPORT CUresult name(CUstream stream, ...)                                                                         \
    {                                                                                                                  \
        return begin_capture(#name, stream);                                                                           \
    }
CAPTURES(cuStreamBeginCapture)
CAPTURES(cuStreamBeginCapture_ptsz)
CAPTURES(cuStreamBeginCapture_v2)
CAPTURES(cuStreamBeginCapture_v2_ptsz)
CAPTURES(cuStreamBeginCaptureToGraph)
CAPTURES(cuStreamBeginCaptureToGraph_ptsz)

EXPORT CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned)
{
    return called("cuStreamWaitEvent");
}

EXPORT CUresult cuStreamWaitEvent_ptsz(CUstream, CUevent, unsigned)
{
    return called("cuStreamWaitEvent_ptsz");
}

EXPORT CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph)
{
    ptsched::Guard guard(lock);
    CUstream_st *stream = find(handle, false);
    if (!stream || !stream->graph)
        return CUDA_ERROR_ILLEGAL_STATE;
    *graph = std::exchange(stream->graph, nullptr);
    return (*graph)->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

EXPORT CUresult cuEventCreate(CUevent *event, unsigned)
{
    ptsched::Guard guard(lock);
    if (events_there >= events_most)
        return CUDA_ERROR_OUT_OF_MEMORY;
    events_there++;
    *event = new CUevent_st{};
    return CUDA_SUCCESS;
}

EXPORT CUresult cuEventDestroy_v2(CUevent event)
{
    ptsched::Guard guard(lock);
    events_there--;
    delete event;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuEventRecord(CUevent event, CUstream handle)
{
    ptsched::Guard guard(lock);
    CUstream_st *stream = find(handle, false);
    if (!stream || !event)
        return CUDA_ERROR_INVALID_HANDLE;
    if (event_answer != CUDA_SUCCESS)
        return event_answer;
    events++;
    events_on_legacy += is_legacy(stream);
    if (stream->graph) {
        events_captured++;
        stream->graph->nodes++;
        return CUDA_SUCCESS;
    }
    event->stream = stream;
    event->position = stream->submitted;
    event->clock_us = in_time ? std::max(stream->clock_us, now_us()) : stream->clock_us;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuEventQuery(CUevent event)
{
    ptsched::Guard guard(lock);
    calls["cuEventQuery"]++;
    if (event_answer != CUDA_SUCCESS)
        return event_answer;
    if (!event || !event->stream || has_completed(*event))
        return CUDA_SUCCESS;
    return CUDA_ERROR_NOT_READY;
}

EXPORT CUresult cuStreamSynchronize(CUstream handle)
{
    unsigned long left_us = 0;
    {
        ptsched::Guard guard(lock);
        calls["cuStreamSynchronize"]++;
        CUstream_st *stream = find(handle, false);
        if (!stream)
            return CUDA_ERROR_INVALID_HANDLE;
        if (in_time && stream->clock_us > now_us())
            left_us = stream->clock_us - now_us();
    }
    if (left_us)
        test_clock->pass_ns(left_us * 1000ull);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end)
{
    ptsched::Guard guard(lock);
    double us = static_cast<double>(end->clock_us) - static_cast<double>(start->clock_us);
    *ms = us == 0 ? nothing_ms : static_cast<float>(us / 1000) + events_ms;
    return event_answer;
}

/* ---- cuGetProcAddress in both ABIs, with the version rules of CUDA 13.0 ---- */

EXPORT CUresult cuGetProcAddress(const char *symbol, void **function, int version, std::uint64_t flags);
EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, std::uint64_t flags,
                                    CUdriverProcAddressQueryResult *status);

static const std::map<std::string, void *> &table()
{
    static const std::map<std::string, void *> entries = {
#define EACH(name) {#name, reinterpret_cast<void *>(name)},
#include "libptsched/preload/driver/entry_points.def"
        {"cuInit", reinterpret_cast<void *>(cuInit)},
    };
    return entries;
}

static void *look_up(const std::string &symbol, int version, std::uint64_t flags)
{
    int needed = 3020;
    if (symbol == "cuGetProcAddress")
        needed = 12000;
    else if (symbol == "cuMemcpyBatchAsync" || symbol == "cuMemcpy3DBatchAsync")
        needed = 13000;
    else if (symbol == "cuMemPrefetchAsync")
        needed = 12020;
    std::vector<std::string> names;
    if (version >= needed)
        names.push_back(symbol + "_v2");
    names.push_back(symbol);
    for (const std::string &name : names) {
        for (const char *suffix : {"_ptsz", "_ptds", ""}) {
            if (*suffix && !(flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM))
                continue;
            auto found = table().find(name + suffix);
            if (found != table().end())
                return found->second;
        }
    }
    return nullptr;
}

CUresult cuGetProcAddress(const char *symbol, void **function, int version, std::uint64_t flags)
{
    called("cuGetProcAddress");
    *function = look_up(symbol, version, flags);
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, std::uint64_t flags,
                             CUdriverProcAddressQueryResult *status)
{
    called("cuGetProcAddress_v2");
    if (!symbol || !*symbol)
        return CUDA_ERROR_INVALID_VALUE;
    *function = look_up(symbol, version, flags);
    if (status)
        *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* ---- the test's handle on all this ---- */

EXPORT extern const struct hand_controls hand_controls;
const struct hand_controls hand_controls = {
    .calls =
        [](const char *name) {
            ptsched::Guard guard(lock);
            return calls[name];
        },
    .complete_by_itself =
        [](int yes) {
            ptsched::Guard guard(lock);
            by_itself = yes;
        },
    .use_clock = [](const test::HandClock *clock) { test_clock = clock; },
    .run_in_time =
        [](int yes) {
            ptsched::Guard guard(lock);
            in_time = yes;
        },
    .set_duration_us =
        [](unsigned us) {
            ptsched::Guard guard(lock);
            submission_us = us;
        },
    .set_event_us =
        [](unsigned around_nothing, unsigned around_work) {
            ptsched::Guard guard(lock);
            nothing_ms = static_cast<float>(around_nothing) / 1000;
            events_ms = static_cast<float>(around_work) / 1000;
        },
    .complete_all =
        [] {
            ptsched::Guard guard(lock);
            for (CUstream_st *stream : streams)
                stream->completed = stream->submitted;
        },
    .queued_us = [](CUstream handle) -> unsigned long long {
        ptsched::Guard guard(lock);
        CUstream_st *stream = find(handle, false);
        return stream && stream->clock_us > now_us() ? stream->clock_us - now_us() : 0;
    },
    .events =
        [] {
            ptsched::Guard guard(lock);
            return events;
        },
    .events_captured =
        [] {
            ptsched::Guard guard(lock);
            return events_captured;
        },
    .events_on_legacy =
        [] {
            ptsched::Guard guard(lock);
            return events_on_legacy;
        },
    .nodes = [](const void *graph) { return static_cast<const CUgraph_st *>(graph)->nodes; },
    .do_nothing = [](int yes) { nothing = yes; },
    .launch = cuLaunchKernel,
    .in_next_submission = [](void (*body)()) { next_submission_does = body; },
    .hold_captures =
        [](int yes) {
            captures_held = yes;
            captures_held.notify_all();
        },
    .captures_beginning = [] { return captures_beginning.load(); },
    .limit_events =
        [](unsigned long most) {
            ptsched::Guard guard(lock);
            events_most = most;
        },
    .events_there =
        [] {
            ptsched::Guard guard(lock);
            return events_there;
        },
    .set_primary_active = [](int active) { primary_active = active; },
    .fail_events =
        [](CUresult with) {
            ptsched::Guard guard(lock);
            event_answer = with;
        },
};

} /* extern "C" */
