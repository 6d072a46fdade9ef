// SPDX-License-Identifier: MIT
#include "libptsched/preload/meter/meter.hpp"

#include "libptsched/preload/common/debug.hpp"
#include "libptsched/preload/common/stats.hpp"
#include "libptsched/preload/driver/driver.hpp"
#include "libptsched/preload/meter/reckoning.hpp"
#include "libptsched/preload/meter/stall.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace ptsched::preload {
namespace {

constexpr std::size_t records_at_once = 16, records_max = 8192;

/* Of what is well known, so much is timed. */
constexpr std::uint64_t short_ones_timed = 32, timed_one_in = 8, waking_timed_one_in = 128;
constexpr std::uint64_t short_ns_max = 100000;

/* So many submissions are counted by it at most. */
std::uint64_t submissions_of(const Record &record)
{
    return std::max(record.stands_for, 1u);
}

CUresult is_complete(const Record &record)
{
    return driver.own().event_query(record.timed ? record.end : record.plain);
}

} // namespace

bool Meter::check(CUresult result)
{
    switch (result) {
    case CUDA_SUCCESS:
    case CUDA_ERROR_NOT_READY:
        return result == CUDA_SUCCESS;
    case CUDA_ERROR_INVALID_HANDLE:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_OUT_OF_MEMORY:
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
    case CUDA_ERROR_STREAM_CAPTURE_ISOLATION:
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
    case CUDA_ERROR_CAPTURED_EVENT:
    case CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD:
        /* A handle ended in a way that we do not see: only that one is lost. Or this one call was not possible. */
        counters.driver_errors.fetch_add(1, std::memory_order_relaxed);
        return false;
    default:
        counters.driver_errors.fetch_add(1, std::memory_order_relaxed);
        if (error_.exchange(result) == CUDA_SUCCESS)
            debug("the driver answers %d to our own calls: no longer measuring", result);
        return false;
    }
}

Stream *Meter::find_stream(Context *context, CUstream handle, const Thread *owner)
{
    Guard guard(lock_);
    Stream *unused = nullptr;
    for (Stream *stream : streams_) {
        /* The fence of another context's stream is of no use to this one. */
        bool fits = stream->context == context || stream->context->state == Context::ended;
        if (stream->ended && fits && !stream->first && !stream->fence_pending)
            unused = stream;
        else if (!stream->ended && stream->handle == handle && stream->context == context && stream->owner == owner)
            return stream;
    }
    if (unused) {
        CUevent fence = unused->fence;
        *unused = Stream{};
        unused->fence = fence;
    } else {
        unused = new (std::nothrow) Stream{};
        if (!unused)
            return nullptr;
        streams_.push_back(unused);
    }
    unused->handle = handle;
    unused->context = context;
    unused->owner = owner;
    return unused;
}

/* All of them, or none. */
bool Meter::make_events(Record &record)
{
    if (check(driver.own().event_create(&record.start, CU_EVENT_DEFAULT)) &&
        check(driver.own().event_create(&record.end, CU_EVENT_DEFAULT)) &&
        check(driver.own().event_create(&record.plain, CU_EVENT_DISABLE_TIMING)))
        return true;
    for (CUevent event : {record.start, record.end}) {
        if (event)
            driver.own().event_destroy(event);
    }
    return false;
}

bool Meter::add_records(Context &context)
{
    if (context.records >= records_max)
        return false;
    ContextScope current(context.handle);
    for (std::size_t i = 0; current.ok() && i < records_at_once; i++) {
        auto *record = new (std::nothrow) Record{};
        if (!record || !make_events(*record)) {
            delete record;
            break;
        }
        record->next = context.free_records;
        context.free_records = record;
        context.records++;
    }
    return context.free_records;
}

void Meter::get_ready(Context &context)
{
    Guard guard(lock_);
    if (!context.records)
        add_records(context);
}

/* NULL: there is none, and no more can be had. */
Record *Meter::take_record(Context &context)
{
    if (!context.free_records && !add_records(context))
        return nullptr;
    return std::exchange(context.free_records, context.free_records->next);
}

/* Of what is known only some is timed, at random, and charged at its mean. */
bool Meter::must_time(const Stream &stream, bool known, std::uint64_t one_in)
{
    if (!known)
        return true;
    /* Work side by side counts once: only times tell. */
    for (const Stream *other : streams_) {
        if (other != &stream && (other->first || other->tail))
            return true;
    }
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_ % one_in == 0;
}

std::uint64_t Meter::short_ns(const Stream &stream, const Key &key)
{
    Guard guard(lock_);
    std::uint64_t ns = estimates_.of(key);
    bool measure = broken() || stream.owner || stream.context->state != Context::alive || ns > short_ns_max ||
                   must_time(stream, estimates_.has_mean(key), short_ones_timed);
    return measure ? 0 : std::max<std::uint64_t>(ns, 1);
}

void Meter::count(Stream &stream, std::uint64_t ns, std::uint64_t now)
{
    Guard guard(lock_);
    gpu_ns_ += ns;
    counted_++;
    stream.tail = !stream.ended && stream.context->state == Context::alive;
    stream.tail_ns += ns;
    stream.tail_until = std::max(stream.tail_until, now) + ns;
    counters.estimated.fetch_add(1, std::memory_order_relaxed);
}

Record *Meter::begin(Stream &stream, const Key &key, std::uint32_t stands_for, std::uint64_t now,
                     std::uint64_t busy_until, bool wakes)
{
    Context &context = *stream.context;
    Record *record;
    {
        Guard guard(lock_);
        record = broken() || context.state != Context::alive ? nullptr : take_record(context);
        if (!record)
            return nullptr;
        /* Its end event comes behind what has been counted so far. */
        stream.tail = false;
        stream.tail_ns = 0;
        record->estimate_ns = estimates_.of(key);
        /*
         * Seldom where it wakes the device: there, an event before the work is work by itself, after which the hardware
         * may turn to others. Those of the short ones that come here are to be timed.
         */
        record->timed = stands_for || (!wakes && record->estimate_ns <= short_ns_max) ||
                        must_time(stream, estimates_.knows(key), wakes ? waking_timed_one_in : timed_one_in);
        record->stands_for = stands_for;
        record->pending_ns = std::max(record->estimate_ns, by_samples_ns(stands_for));
        record->waits = estimates_.waits_for_others(key);
        under_way_ += submissions_of(*record);
    }
    record->key = key;
    record->fills = fills(key);
    record->submitted_ns = now;
    record->begins_ns = std::max(now, busy_until);
    record->others_until_ns = busy_until;
    record->charged_ns = 0;
    record->suspected_ns = 0;
    record->next = nullptr;
    if (!record->timed || check(driver.own().event_record(record->start, stream.handle)))
        return record;
    Guard guard(lock_);
    give_back(context, record);
    return nullptr;
}

void Meter::end(Stream &stream, Record *record, bool submitted)
{
    CUevent behind = record->timed ? record->end : record->plain;
    bool recorded = submitted && check(driver.own().event_record(behind, stream.handle));
    Guard guard(lock_);
    if (!recorded) {
        stream.tail = !stream.ended && stream.context->state == Context::alive;
        give_back(*stream.context, record);
        return;
    }
    (stream.last ? stream.last->next : stream.first) = record;
    stream.last = record;
    stream.pending_ns += record->pending_ns;
    (record->timed ? counters.measured : counters.estimated).fetch_add(1, std::memory_order_relaxed);
    if (record->timed)
        begin_gauge(stream);
}

void Meter::give_back(Context &context, Record *record)
{
    under_way_ -= submissions_of(*record);
    record->next = context.free_records;
    context.free_records = record;
}

void Meter::drop(Stream &stream)
{
    while (Record *record = stream.first) {
        stream.first = record->next;
        give_back(*stream.context, record);
    }
    stream.last = nullptr;
    stream.pending_ns = 0;
    stream.tail = stream.fence_pending = stream.fence_again = false;
}

void Meter::reap(std::uint64_t now)
{
    Guard guard(lock_);
    for (Stream *stream : streams_) {
        Context &context = *stream->context;
        if ((!stream->first && !stream->fence_pending) || context.state != Context::alive)
            continue;
        ContextScope current(context.handle);
        if (stream->fence_pending)
            reap_fence(*stream, now);
        /* A question costs a microsecond: often the last one answers for all. */
        bool all = stream->first && is_complete(*stream->last) == CUDA_SUCCESS;
        while (Record *record = stream->first) {
            CUresult result = all ? CUDA_SUCCESS : is_complete(*record);
            if (result == CUDA_ERROR_NOT_READY) {
                stream->seen_running_ns = now;
                break;
            }
            if (check(result))
                account(*stream, *record, now);
            stream->first = record->next;
            if (!stream->first)
                stream->last = nullptr;
            stream->pending_ns -= record->pending_ns;
            completed_++;
            give_back(context, record);
        }
        /* Of what was counted only the tail can be left: estimates that are too long must not add up. */
        if (!stream->first && !stream->fence_pending)
            stream->tail_until = std::min(stream->tail_until, now + stream->tail_ns);
    }
}

std::uint64_t Meter::in_flight_ns(std::uint64_t now)
{
    Guard guard(lock_);
    std::uint64_t total = 0;
    double busy = 0;
    for (Stream *stream : streams_) {
        const Record *first = stream->first;
        bool tail = stream->tail && stream->tail_until > now;
        if (tail)
            total += stream->tail_until - now;
        busy += first || tail;
        if (!first)
            continue;
        /* Of the one that runs, what is left; one that overran its estimate may take as long again. */
        std::uint64_t ran = behind(now, stream->began_ns(*first));
        std::uint64_t left = first->pending_ns > ran ? first->pending_ns - ran : ran - first->pending_ns;
        total += stream->pending_ns - first->pending_ns + left + 1;
    }
    /* What runs side by side has completed earlier than the sum says. */
    double side_by_side = mean_added_ > 0 ? std::clamp(mean_ran_ / mean_added_, 1.0, std::max(busy, 1.0)) : 1;
    return static_cast<std::uint64_t>(double(total) / side_by_side);
}

Meter::Progress Meter::progress()
{
    Guard guard(lock_);
    Progress progress{completed_, 0};
    for (const Stream *stream : streams_) {
        if (stream->first)
            progress.expected_ns = std::max(progress.expected_ns, stream->first->estimate_ns);
    }
    return progress;
}

void Meter::suspect(std::uint64_t now)
{
    Guard guard(lock_);
    for (Stream *stream : streams_) {
        if (stream->first)
            stream->first->suspected_ns = now;
    }
}

bool Meter::waits_for_program(std::uint64_t now)
{
    Guard guard(lock_);
    return std::any_of(streams_.begin(), streams_.end(), [now](const Stream *stream) {
        const Record *first = stream->first;
        return first && first->waits && behind(now, stream->began_ns(*first)) <= Stall::patience_ns;
    });
}

bool Meter::idle()
{
    Guard guard(lock_);
    return std::all_of(streams_.begin(), streams_.end(), [](const Stream *stream) {
        return !stream->first && !stream->tail && !stream->fence_pending && stream->context->state != Context::ending;
    });
}

bool Meter::unknown_in_flight()
{
    Guard guard(lock_);
    return std::any_of(streams_.begin(), streams_.end(),
                       [](const Stream *stream) { return stream->fence_pending && stream->fence_unknown; });
}

std::uint64_t Meter::estimate_ns(const Key &key, std::uint32_t stands_for)
{
    Guard guard(lock_);
    return std::max(estimates_.of(key), by_samples_ns(stands_for));
}

void Meter::stream_ends(CUstream handle)
{
    Guard guard(lock_);
    for (Stream *stream : streams_) {
        if (stream->ended || stream->handle != handle || stream->context->state != Context::alive)
            continue;
        /* Work that was given to it goes on. Destroying a stream that is being captured is the program's error. */
        fence(*stream, true);
        stream->ended = true;
    }
}

void Meter::thread_ends(const Thread &thread)
{
    Guard guard(lock_);
    for (Stream *stream : streams_)
        stream->ended = stream->ended || stream->owner == &thread;
}

void Meter::context_ends(Context &context)
{
    Guard guard(lock_);
    if (context.state == Context::alive)
        context.state = Context::ending;
}

void Meter::context_ended(Context &context, bool gone)
{
    Guard guard(lock_);
    if (!gone) {
        if (context.state == Context::ending)
            context.state = Context::alive;
        return;
    }
    context.state = Context::ended;
    for (Stream *stream : streams_) {
        if (stream->context != &context)
            continue;
        drop(*stream);
        stream->ended = true;
        stream->fence = nullptr;
    }
    /* The events went with the context. */
    while (Record *record = context.free_records) {
        context.free_records = record->next;
        delete record;
    }
    delete std::exchange(context.gauge, nullptr);
    context.gauging = false;
    context.base = nullptr;
    context.has_base = context.has_sample = false;
}

} // namespace ptsched::preload
