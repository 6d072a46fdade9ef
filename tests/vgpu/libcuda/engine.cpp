// SPDX-License-Identifier: MIT
/* Operations on their way: through the streams' queues, the bodies on the host, the engine, to completion. */
#include "tests/vgpu/libcuda/runtime.h"

#include <algorithm>
#include <cstring>
#include <ctime>

namespace vgpu {

namespace {

/* A program that gets this far ahead of a stream's bodies waits, as it does for the real driver. */
constexpr std::size_t most_pending = 1024;

bool has_room(const CUstream_st::Channel &channel, std::uint32_t items)
{
    return channel.submitted - channel.completed + items <= VGPU_RING_ITEMS &&
           state().items + items <= VGPU_CLIENT_ITEMS;
}

bool satisfied_by_engine(const Marker &marker, std::uint32_t device)
{
    return marker.done || (marker.channel && marker.device == device);
}

CUresult open_channel(CUstream_st &stream, Runlist runlist)
{
    auto &channel = stream.channels[runlist];
    if (channel.handle)
        return CUDA_SUCCESS;
    vgpu_channel_create arg{stream.context->handle, static_cast<std::uint32_t>(runlist), 0, 0};
    if (state().link->create_channel(arg))
        return CUDA_ERROR_OUT_OF_MEMORY;
    channel.handle = arg.channel;
    rm_add_channel(*stream.context, runlist, channel.handle);
    return CUDA_SUCCESS;
}

void mark_done(Marker &marker, std::uint64_t start, std::uint64_t end)
{
    marker.body_done = true;
    marker.done = true;
    marker.start_ns = start;
    marker.end_ns = end;
    if (marker.trapped && !state().lost)
        state().lost = CUDA_ERROR_LAUNCH_FAILED;
    state().changed.notify_all();
}

/* Hands an operation whose body has run to the engine; room for it has been seen to. */
void submit(CUstream_st &stream, const Op &op, std::uint64_t cost)
{
    State &s = state();
    auto &channel = stream.channels[op.runlist];
    auto &marker = *op.marker;
    std::uint32_t device = static_cast<std::uint32_t>(stream.context->device);
    vgpu_work works[16];
    std::uint32_t count = 0;
    std::vector<const Marker *> waits;

    auto add_wait = [&](const Marker &wait) {
        if (!wait.done && wait.channel && wait.channel != channel.handle)
            waits.push_back(&wait);
    };
    if (stream.submitted)
        add_wait(*stream.submitted);
    for (const auto &wait : op.waits)
        add_wait(*wait);
    auto flush = [&] {
        if (s.link->submit(works, count))
            s.lost = CUDA_ERROR_UNKNOWN;
        count = 0;
    };
    for (std::size_t i = 0; i < std::max<std::size_t>(waits.size(), 1); i++) {
        bool last = i + 1 >= waits.size();
        vgpu_work &work = works[count++];
        work = {channel.handle, 0, 0, 0, last ? cost : 0};
        if (i < waits.size()) {
            work.wait_channel = waits[i]->channel;
            work.wait_seq = waits[i]->sequence;
        }
        work.id = ++s.ids;
        channel.submitted++;
        s.items++;
        s.in_flight.emplace(work.id, std::pair(last ? op.marker : nullptr, stream.shared_from_this()));
        if (last || count == std::size(works))
            flush();
    }
    marker.device = device;
    marker.channel = channel.handle;
    marker.sequence = channel.submitted;
    marker.body_done = true;
    stream.submitted = op.marker;
    s.changed.notify_all();
}

std::uint32_t items_needed(const Op &op)
{
    return static_cast<std::uint32_t>(op.waits.size()) + 1;
}

/* Waits until an operation's body may run. */
void await_turn(Guard &lock, CUstream_st &stream, const Op &op)
{
    State &s = state();
    std::uint32_t device = static_cast<std::uint32_t>(stream.context->device);

    s.changed.wait(lock, [&] {
        return s.lost || std::all_of(op.waits.begin(), op.waits.end(), [&](const MarkerPtr &wait) {
                   return wait->body_done && satisfied_by_engine(*wait, device) && (!op.on_host || wait->done);
               });
    });
    if (op.on_host && stream.submitted)
        s.changed.wait(lock, [&] { return s.lost || stream.submitted->done; });
}

void execute(Guard &lock, CUstream_st &stream, Op &op)
{
    State &s = state();
    std::uint64_t start = op.on_host ? now_ns() : 0;
    std::uint64_t cost = 0;

    /* After a kernel at fault a driver runs nothing any more: the program may take its memory back. */
    if (op.body && !s.lost) {
        s.bodies += !op.on_host;
        lock.unlock();
        cost = op.body();
        lock.lock();
        s.bodies -= !op.on_host;
    }
    if (cost == trapped) {
        op.marker->trapped = true;
        cost = 0;
    }
    if (op.on_host || s.lost) {
        mark_done(*op.marker, start, now_ns());
        return;
    }
    if (open_channel(stream, op.runlist)) {
        s.lost = CUDA_ERROR_UNKNOWN;
        mark_done(*op.marker, start, now_ns());
        return;
    }
    s.changed.wait(lock, [&] { return s.lost || has_room(stream.channels[op.runlist], items_needed(op)); });
    if (s.lost)
        mark_done(*op.marker, start, now_ns());
    else
        submit(stream, op, cost);
}

/* A destroyed stream whose work is complete gives its channels back and leaves its context. */
void reap(const StreamPtr &stream)
{
    State &s = state();

    for (Runlist runlist : {compute, copy}) {
        std::uint32_t channel = stream->channels[runlist].handle;
        if (!channel || s.lost)
            continue;
        rm_remove_channel(*stream->context, runlist, channel);
        s.link->destroy(channel);
    }
    stream->context->streams.erase(stream.get());
    s.changed.notify_all();
}

bool idle(const CUstream_st &stream)
{
    return stream.pending.empty() && !stream.executing && (!stream.last || stream.last->done);
}

void run_worker(const StreamPtr &stream)
{
    State &s = state();
    Guard lock(s.lock);

    for (;;) {
        stream->work.wait(lock, [&] { return !stream->executing && (!stream->pending.empty() || stream->destroyed); });
        if (stream->pending.empty())
            break;
        stream->executing = true;
        Op op = std::move(stream->pending.front());
        stream->pending.pop_front();
        s.changed.notify_all();
        await_turn(lock, *stream, op);
        execute(lock, *stream, op);
        stream->executing = false;
    }
    s.changed.wait(lock, [&] { return s.lost || idle(*stream); });
    reap(stream);
}

void start_worker(const StreamPtr &stream)
{
    if (!stream->has_worker)
        std::thread(run_worker, stream).detach();
    stream->has_worker = true;
    stream->work.notify_one();
}

/* Nothing to wait for and a short body: the caller does it now. */
bool runs_now(const CUstream_st &stream, const Op &op)
{
    std::uint32_t device = static_cast<std::uint32_t>(stream.context->device);

    if (!op.light || op.on_host || stream.executing || !stream.pending.empty() || state().lost)
        return false;
    for (const auto &wait : op.waits)
        if (!wait->body_done || !satisfied_by_engine(*wait, device))
            return false;
    return has_room(stream.channels[op.runlist], items_needed(op));
}

/* The legacy default stream and the blocking streams of its context wait for each other. */
void add_implicit_waits(const CUstream_st &stream, Op &op)
{
    if (!stream.blocking())
        return;
    if (!stream.legacy) {
        const auto &last = stream.context->legacy->last;
        if (last && !last->done)
            op.waits.push_back(last);
        return;
    }
    for (const auto &[handle, other] : stream.context->streams)
        if (other->blocking() && !other->legacy && other->last && !other->last->done)
            op.waits.push_back(other->last);
}

void receive_completions()
{
    State &s = state();
    std::vector<vgpu_completion> completions;

    while (s.link->receive(completions)) {
        Guard lock(s.lock);
        for (const auto &completion : completions) {
            auto found = s.in_flight.find(completion.id);
            if (found == s.in_flight.end())
                continue;
            auto [marker, stream] = std::move(found->second);
            s.in_flight.erase(found);
            s.items--;
            for (auto &channel : stream->channels)
                if (channel.handle == completion.channel)
                    channel.completed++;
            if (marker)
                mark_done(*marker, completion.start_ns, completion.end_ns);
        }
        s.changed.notify_all();
    }
    Guard lock(s.lock);
    s.lost = CUDA_ERROR_UNKNOWN;
    s.changed.notify_all();
}

} // namespace

std::uint64_t now_ns()
{
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1000000000 + static_cast<std::uint64_t>(time.tv_nsec);
}

void start_reader()
{
    std::thread(receive_completions).detach();
}

StreamPtr add_stream(CUcontext context, unsigned int flags, int priority, bool legacy)
{
    State &s = state();

    auto stream = std::make_shared<CUstream_st>();
    stream->context = context;
    stream->flags = flags;
    stream->priority = priority;
    stream->legacy = legacy;
    stream->id = ++s.ids;
    context->streams.emplace(stream.get(), stream);
    s.streams.emplace(stream.get(), stream);
    return stream;
}

/* The handle ends now; the stream when what has been enqueued is complete. */
void remove_stream(const StreamPtr &stream)
{
    stream->destroyed = true;
    state().streams.erase(stream.get());
    if (!stream->has_worker && idle(*stream))
        reap(stream);
    else
        start_worker(stream);
}

CUresult enqueue(Guard &lock, const StreamPtr &stream, Op op)
{
    State &s = state();

    s.changed.wait(lock, [&] { return s.lost || stream->pending.size() < most_pending; });
    if (s.lost)
        return s.lost;
    add_implicit_waits(*stream, op);
    op.marker->device = static_cast<std::uint32_t>(stream->context->device);
    stream->last = op.marker;
    if (runs_now(*stream, op)) {
        stream->executing = true;
        execute(lock, *stream, op);
        stream->executing = false;
        /* A worker may have been started meanwhile: for what has come, or to end the stream. */
        if (!stream->pending.empty() || stream->destroyed)
            stream->work.notify_one();
        return s.lost;
    }
    stream->pending.push_back(std::move(op));
    start_worker(stream);
    return CUDA_SUCCESS;
}

CUresult wait_done(Guard &lock, const MarkerPtr &marker)
{
    State &s = state();

    if (marker)
        s.changed.wait(lock, [&] { return marker->done || s.lost; });
    /* Nor does anything go on, when the program hears of it. */
    if (s.lost == CUDA_ERROR_LAUNCH_FAILED)
        s.changed.wait(lock, [&] { return !s.bodies; });
    return s.lost;
}

CUresult wait_stream(Guard &lock, const StreamPtr &stream)
{
    StreamPtr kept = stream;
    MarkerPtr last = kept->last;

    /* Work in the legacy stream follows that of the blocking ones, so waiting for it means waiting for them. */
    std::vector<MarkerPtr> others;
    if (kept->legacy)
        for (const auto &[handle, other] : kept->context->streams)
            if (other->blocking() && other->last)
                others.push_back(other->last);
    for (const auto &other : others)
        VGPU_TRY(wait_done(lock, other));
    return wait_done(lock, last);
}

CUresult wait_context(Guard &lock, CUcontext context)
{
    std::vector<MarkerPtr> markers;

    for (const auto &[handle, stream] : context->streams)
        if (stream->last)
            markers.push_back(stream->last);
    for (const auto &marker : markers)
        VGPU_TRY(wait_done(lock, marker));
    return CUDA_SUCCESS;
}

} // namespace vgpu
