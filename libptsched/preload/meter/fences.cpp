// SPDX-License-Identifier: MIT
/* End events behind work that was not measured. */
#include "libptsched/preload/driver/driver.hpp"
#include "libptsched/preload/meter/capture.hpp"
#include "libptsched/preload/meter/meter.hpp"
#include "libptsched/preload/meter/reckoning.hpp"

#include <algorithm>
#include <utility>

namespace ptsched::preload {
namespace {

/*
 * The legacy stream waits for all blocking streams, and they for it: an event that is recorded there at any other time
 * than with the program's own submission orders work that the program has not ordered. A query orders nothing (tried on
 * an H200), but is answered only once the blocking streams are idle, too, and would end a capture.
 */
bool orders_others(const Stream &stream)
{
    return stream.handle == CU_STREAM_LEGACY;
}

} // namespace

CUresult Meter::ask_fence(const Stream &stream)
{
    if (!orders_others(stream))
        return driver.own().event_query(stream.fence);
    CaptureBarrier no_capture_begins;
    return driver.is_capturing(stream.handle) ? CUDA_ERROR_NOT_READY : driver.own().stream_query(stream.handle);
}

/* When that was reached, in its context's time. */
bool Meter::find_fence_ms(const Stream &stream, std::uint64_t now, double &ms)
{
    const Context &context = *stream.context;
    if (orders_others(stream)) {
        ms = context.clock.ms(now);
        return true;
    }
    float passed = 0;
    bool known = check(driver.own().event_elapsed(&passed, context.base, stream.fence));
    ms = passed;
    return known;
}

void Meter::reap_fence(Stream &stream, std::uint64_t now)
{
    Context &context = *stream.context;
    CUresult result = ask_fence(stream);
    double ms = 0;
    stream.fence_pending = result == CUDA_ERROR_NOT_READY;
    stream.fence_waited = stream.fence_waited || stream.fence_pending;
    if (check(result) && stream.fence_waited && context.has_sample && find_fence_ms(stream, now, ms))
        waited_ns_ = std::max(waited_ns_, to_ns(present_ms(context, ms) - context.sampled_ms));
    if (stream.fence_pending || !std::exchange(stream.fence_again, false) || stream.ended)
        return;
    CaptureBarrier no_capture_begins;
    fence(stream, true);
}

void Meter::fence(Stream &stream, bool unknown)
{
    ContextScope current(stream.context->handle);
    /* What is being captured does not run. */
    stream.tail = false;
    stream.tail_ns = 0;
    if (!current.ok() || driver.is_capturing(stream.handle))
        return;
    bool asked = orders_others(stream);
    if (!asked && !stream.fence && !check(driver.own().event_create(&stream.fence, CU_EVENT_DEFAULT)))
        return;
    stream.fence_unknown = unknown || (stream.fence_pending && stream.fence_unknown);
    stream.fence_pending = asked || check(driver.own().event_record(stream.fence, stream.handle));
    stream.fence_waited = stream.fence_again = false;
}

/*
 * Whatever the number of turns in which a kernel stays on its stream, there is one event behind it: once the driver has
 * some thousand calls waiting in a stream, the next one waits as well, and with it the turn.
 */
void Meter::fence_in_time(Stream &stream)
{
    if (stream.fence_pending && !orders_others(stream))
        stream.fence_again = stream.fence_unknown = true;
    else
        fence(stream, true);
}

void Meter::fence_all()
{
    /* Between the question whether a stream is being captured and our record, no capture may begin. */
    CaptureBarrier no_capture_begins;
    for (Stream *stream : streams_) {
        if (!stream->ended && !stream->owner && stream->context->state == Context::alive)
            fence_in_time(*stream);
    }
}

void Meter::fence_streams()
{
    Guard guard(lock_);
    fence_all();
}

bool Meter::asks_for_end(std::uint64_t submissions)
{
    Guard guard(lock_);
    if (!not_stood_for(submissions) || submissions == end_asked_for_)
        return false;
    end_asked_for_ = submissions;
    waited_ns_ = 0;
    fence_all();
    return true;
}

void Meter::fence_tails(std::uint64_t now)
{
    Guard guard(lock_);
    auto due = [now](const Stream *stream) {
        return stream->tail && stream->tail_until <= now && !stream->first && !stream->fence_pending &&
               stream->context->state == Context::alive;
    };
    if (std::none_of(streams_.begin(), streams_.end(), due))
        return;
    CaptureBarrier no_capture_begins;
    for (Stream *stream : streams_) {
        if (due(stream))
            fence(*stream, false);
    }
}

} // namespace ptsched::preload
