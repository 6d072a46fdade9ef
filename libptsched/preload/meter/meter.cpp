/* SPDX-License-Identifier: MIT */
#include "libptsched/preload/meter/meter.hpp"

#include "libptsched/preload/common/debug.hpp"
#include "libptsched/preload/common/stats.hpp"
#include "libptsched/preload/driver/driver.hpp"
#include "libptsched/preload/meter/capture.hpp"
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

/*
 * Events around nothing are looked at so often. Around work they take longer, since it can begin less early and ends
 * later for the second one (H200: 2.1 us longer than kernels take in a row, and 1.25 us around nothing).
 */
constexpr unsigned gauges = 8;
constexpr double around_work = 1.7;

/* So much later than it could it may begin, and be looked at. */
constexpr std::uint64_t look_ns = 1000000;

/* Event times are floats in milliseconds: the base follows before a microsecond gets lost. */
constexpr double base_age_ms = 2000;

std::uint64_t to_ns(double ms)
{
    return ms > 0 ? static_cast<std::uint64_t>(ms * 1e6) : 0;
}

/* From the one until the other, if that is later. */
std::uint64_t behind(std::uint64_t ns, std::uint64_t before)
{
    return ns > before ? ns - before : 0;
}

double to_ms(std::uint64_t ns)
{
    return static_cast<double>(ns) / 1e6;
}

/* The earliest that the first one of a stream can have begun; host time. */
std::uint64_t began_ns(const Stream &stream, const Record &first)
{
    return std::max(first.begins_ns, stream.completed_ns);
}

/* So many submissions are counted by it at most. */
std::uint64_t submissions_of(const Record &record)
{
    return std::max(record.stands_for, 1u);
}

CUresult is_complete(const Record &record)
{
    return driver.own().event_query(record.timed ? record.end : record.plain);
}

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
    std::lock_guard guard(lock_);
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
    std::lock_guard guard(lock_);
    if (!context.records)
        add_records(context);
}

/* NULL: there is none, and no more can be had. The lock is held. */
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
    std::lock_guard guard(lock_);
    std::uint64_t ns = estimates_.of(key);
    bool measure = broken() || stream.owner || stream.context->state != Context::alive || ns > short_ns_max ||
                   must_time(stream, estimates_.has_mean(key), short_ones_timed);
    return measure ? 0 : std::max<std::uint64_t>(ns, 1);
}

void Meter::count(Stream &stream, std::uint64_t ns, std::uint64_t now)
{
    std::lock_guard guard(lock_);
    gpu_ns_ += ns;
    counted_++;
    stream.tail = !stream.ended && stream.context->state == Context::alive;
    stream.tail_ns += ns;
    stream.tail_until = std::max(stream.tail_until, now) + ns;
    counters.estimated.fetch_add(1, std::memory_order_relaxed);
}

/* The lock is held, as in end_gauge(). Behind work, so that the device does not wait for the second one. */
void Meter::begin_gauge(Stream &stream)
{
    Context &context = *stream.context;
    if (context.gauging || context.gauged == gauges)
        return;
    if (!context.gauge)
        context.gauge = take_record(context);
    if (!context.gauge)
        return;
    context.gauging = check(driver.own().event_record(context.gauge->start, stream.handle)) &&
                      check(driver.own().event_record(context.gauge->end, stream.handle));
}

void Meter::end_gauge(Context &context)
{
    float ms = 0;
    if (!context.gauging || driver.own().event_query(context.gauge->end) != CUDA_SUCCESS)
        return;
    context.gauging = false;
    if (!check(driver.own().event_elapsed(&ms, context.gauge->start, context.gauge->end)))
        return;
    context.event_ns = context.gauged++ ? std::min(context.event_ns, to_ns(ms)) : to_ns(ms);
}

Record *Meter::begin(Stream &stream, const Key &key, std::uint32_t stands_for, std::uint64_t now,
                     std::uint64_t busy_until, bool wakes)
{
    Context &context = *stream.context;
    Record *record;
    {
        std::lock_guard guard(lock_);
        record = broken() || context.state != Context::alive ? nullptr : take_record(context);
        if (!record)
            return nullptr;
        /* Its end event comes behind what has been counted so far. */
        stream.tail = false;
        stream.tail_ns = 0;
        record->estimate_ns = estimates_.of(key);
        /* Seldom where it wakes the device: there, an event before the work is work by itself, after which the hardware
         * may turn to others. Those of the short ones that come here are to be timed. */
        record->timed = stands_for || (!wakes && record->estimate_ns <= short_ns_max) ||
                        must_time(stream, estimates_.knows(key), wakes ? waking_timed_one_in : timed_one_in);
        record->stands_for = stands_for;
        record->pending_ns = std::max(record->estimate_ns, by_samples_ns(stands_for));
        record->waits = estimates_.waits_for_others(key);
        under_way_ += submissions_of(*record);
    }
    record->key = key;
    record->fills = occupancy_.of(key);
    record->submitted_ns = now;
    record->begins_ns = std::max(now, busy_until);
    record->others_until_ns = busy_until;
    record->charged_ns = 0;
    record->suspected_ns = 0;
    record->next = nullptr;
    if (!record->timed || check(driver.own().event_record(record->start, stream.handle)))
        return record;
    std::lock_guard guard(lock_);
    give_back(context, record);
    return nullptr;
}

void Meter::end(Stream &stream, Record *record, bool submitted)
{
    CUevent behind = record->timed ? record->end : record->plain;
    bool recorded = submitted && check(driver.own().event_record(behind, stream.handle));
    std::lock_guard guard(lock_);
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

/* The record gets another one for it; without that, it keeps its own. */
bool Meter::keep_event(CUevent &kept, CUevent &event)
{
    if (!kept && !check(driver.own().event_create(&kept, CU_EVENT_DEFAULT)))
        return false;
    std::swap(kept, event);
    return true;
}

/* After the base; the first one brings that with it. */
bool Meter::find_times(Context &context, Record &record, std::uint64_t now, double &begin_ms, double &end_ms)
{
    float took = 0, end = 0;
    if (!check(driver.own().event_elapsed(&took, record.start, record.end)))
        return false;
    if (context.has_base && !check(driver.own().event_elapsed(&end, context.base, record.end)))
        return context.has_base = false;
    bool first = !context.has_base;
    if (first) {
        if (!keep_event(context.base, record.start))
            return false;
        context.has_base = true;
        context.has_sample = false;
        context.busy.clear();
        context.clock.clear();
        end = took;
    }
    end_ms = end;
    begin_ms = end_ms - took;
    context.clock.saw(begin_ms, end_ms, record.submitted_ns, now);
    if (first)
        context.base_absences_ns = absences_.until(context.clock.host_ns(0));
    return true;
}

/* The same without the time in which the channels were off. */
double Meter::present_ms(const Context &context, double ms) const
{
    std::uint64_t off_ns = absences_.until(context.clock.host_ns(ms)) - context.base_absences_ns;
    return ms - static_cast<double>(static_cast<std::int64_t>(off_ns)) / 1e6;
}

void Meter::renew_base(Context &context, Record &record, double ms)
{
    double present = present_ms(context, ms);
    std::swap(context.base, record.end);
    context.clock.rebase(ms);
    context.base_absences_ns = absences_.until(context.clock.host_ns(0));
    context.busy.shift(-present);
    context.sampled_ms -= present;
}

std::uint64_t Meter::in_company_ns(std::uint64_t began, std::uint64_t ended) const
{
    if (ended <= began)
        return 0;
    return company_.until(ended) - company_.until(began) + behind(ended, std::max(began, company_from_ns_));
}

/*
 * Of what passed between its events. Where others' work was on the device, too, what it usually takes tells how much
 * of that was its own, if it is possible at all, and else the part that others have by guess.
 */
std::uint64_t Meter::ran_ns(const Context &context, const Record &record, double begin_ms, double end_ms)
{
    std::uint64_t began = context.clock.host_ns(begin_ms), ended = context.clock.host_ns(end_ms);
    std::uint64_t ran = to_ns(present_ms(context, end_ms) - present_ms(context, begin_ms));
    ran -= std::min(ran, static_cast<std::uint64_t>(around_work * double(context.event_ns)));
    std::uint64_t shared = behind(std::min(record.others_until_ns, ended), began) + in_company_ns(began, ended);
    shared = std::min(shared, ran);
    if (shared && record.estimate_ns >= ran - shared && record.estimate_ns <= ran)
        return record.estimate_ns;
    if (record.estimate_ns < ran)
        ran -= shared / others_part_;
    learn(record, ran);
    return ran;
}

/* How long others let it wait says nothing of how long it takes. */
void Meter::learn(const Record &record, std::uint64_t ran_ns)
{
    if (!estimates_.waits_for_others(record.key))
        estimates_.learn(record.key, ran_ns);
}

/* At its end. What was suspected is so, if that came soon after; and is not any more, if it took long by itself. */
void Meter::learn_wait(const Stream &stream, const Record &record, std::uint64_t now)
{
    if (record.suspected_ns)
        estimates_.learn_wait(record.key, behind(now, record.suspected_ns) <= Stall::effect_ns);
    else if (record.waits && behind(now, began_ns(stream, record)) > Stall::patience_ns)
        estimates_.learn_wait(record.key, false);
}

void Meter::account(Stream &stream, Record &record, std::uint64_t now)
{
    Context &context = *stream.context;
    double begin_ms = 0, end_ms = 0;
    learn_wait(stream, record, now);
    if (!record.timed) {
        charge_untimed(stream, record);
        stream.completed_ns = now;
        return;
    }
    if (!find_times(context, record, now, begin_ms, end_ms))
        return;
    end_gauge(context);
    std::uint64_t ran = ran_ns(context, record, begin_ms, end_ms);
    occupancy_.saw(record.fills, ran);
    if (record.stands_for)
        charge_sample(context, record, ran, present_ms(context, end_ms));
    else
        charge_interval(context, record, ran, present_ms(context, end_ms));
    stream.completed_ns = std::min(now, context.clock.host_ns(end_ms));
    if (end_ms > base_age_ms)
        renew_base(context, record, end_ms);
}

/* What it is known to take, unless it was seen to run for much longer: then it is no longer known. */
void Meter::charge_untimed(Stream &stream, const Record &record)
{
    std::uint64_t began = began_ns(stream, record), seen = stream.seen_running_ns;
    std::uint64_t ran = behind(seen, began + in_company_ns(began, seen));
    if (ran > 2 * record.estimate_ns + look_ns)
        learn(record, ran);
    else
        ran = record.estimate_ns;
    occupancy_.saw(record.fills, ran);
    gpu_ns_ += behind(ran, record.charged_ns);
    counted_++;
}

/* What it stands for has run since the one before it, and side by side it cannot have run longer than that. The first
 * one stands for itself. */
void Meter::charge_sample(Context &context, Record &record, std::uint64_t ran_ns, double end_ms)
{
    std::uint32_t stands_for = context.has_sample ? record.stands_for : 1;
    std::uint32_t again = static_cast<std::uint32_t>(std::min<std::uint64_t>(stands_for - 1, ahead_));
    ahead_ -= again;
    stands_for -= again;
    std::uint64_t all_ns = ran_ns * stands_for;
    if (context.has_sample)
        all_ns = std::min(all_ns, std::max(to_ns(end_ms - context.sampled_ms), ran_ns));
    std::uint64_t charged_ns = behind(ran_ns, to_ns(context.busy.add(end_ms - to_ms(ran_ns), end_ms)));
    sampled_ns_ += behind(all_ns, charged_ns);
    counted_ += stands_for;
    samples_ns_ += double(all_ns) - samples_ns_ / 16;
    samples_for_ += stands_for - samples_for_ / 16;
    context.sampled_ms = context.has_sample ? std::max(context.sampled_ms, end_ms) : end_ms;
    context.has_sample = true;
}

/* The part of its execution in which nothing else of its context ran. */
void Meter::charge_interval(Context &context, Record &record, std::uint64_t ran_ns, double end_ms)
{
    double ran = to_ms(ran_ns);
    double added = context.busy.add(end_ms - ran, end_ms);
    counted_++;
    gpu_ns_ += to_ns(added);
    if (record.charged_ns)
        return;
    mean_ran_ += (ran - mean_ran_) / 16;
    mean_added_ += (added - mean_added_) / 16;
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

/* The lock is held. */
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

void Meter::reap(std::uint64_t now)
{
    std::lock_guard guard(lock_);
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

void Meter::charge_running(Stream &stream, Record &record, std::uint64_t now)
{
    Context &context = *stream.context;
    std::uint64_t began = began_ns(stream, record), charged_ns = 0;
    std::uint64_t ran_ns = behind(now, began + in_company_ns(began, now) / others_part_);
    if (!record.timed) {
        charged_ns = behind(std::min(ran_ns, record.estimate_ns), record.charged_ns);
    } else if (context.has_base) {
        double end_ms = present_ms(context, context.clock.ms(now));
        charged_ns = to_ns(context.busy.add(end_ms - to_ms(ran_ns), end_ms));
    }
    record.charged_ns += charged_ns;
    gpu_ns_ += charged_ns;
}

void Meter::end_company(std::uint64_t now)
{
    if (company_from_ns_ < now) {
        company_.begin(company_from_ns_);
        company_.end(now);
    }
    company_from_ns_ = ~0ull;
}

void Meter::others_come(std::uint64_t ns, unsigned part)
{
    std::lock_guard guard(lock_);
    others_part_ = part;
    company_from_ns_ = std::min(company_from_ns_, ns);
}

void Meter::others_leave(std::uint64_t now)
{
    std::lock_guard guard(lock_);
    end_company(now);
}

void Meter::pause(std::uint64_t now)
{
    std::lock_guard guard(lock_);
    absences_.begin(now);
    paused_since_ = now;
    /* This turn pays for what runs: in a later one there may not be room for all of it. */
    for (Stream *stream : streams_) {
        Record *first = stream->first;
        if (first && stream->context->state == Context::alive)
            charge_running(*stream, *first, now);
    }
    end_company(now);
}

void Meter::resume(std::uint64_t now)
{
    std::lock_guard guard(lock_);
    now = std::max(now, paused_since_);
    absences_.end(now);
    for (Stream *stream : streams_) {
        Record *first = stream->first;
        if (stream->tail_until > paused_since_)
            stream->tail_until += now - paused_since_;
        if (!first)
            continue;
        first->begins_ns += now - paused_since_;
        stream->completed_ns += now - paused_since_;
        stream->seen_running_ns += now - paused_since_;
    }
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

/* The lock is held. */
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
    std::lock_guard guard(lock_);
    fence_all();
}

/* How long so many take together, by the last samples; 0: there are none. The lock is held. */
std::uint64_t Meter::by_samples_ns(std::uint64_t submissions) const
{
    return samples_for_ > 0 ? static_cast<std::uint64_t>(double(submissions) * samples_ns_ / samples_for_) : 0;
}

/* Of the first so many. The lock is held. */
std::uint64_t Meter::not_stood_for(std::uint64_t submissions) const
{
    return behind(submissions, counted_ + under_way_);
}

bool Meter::asks_for_end(std::uint64_t submissions)
{
    std::lock_guard guard(lock_);
    if (!not_stood_for(submissions) || submissions == end_asked_for_)
        return false;
    end_asked_for_ = submissions;
    waited_ns_ = 0;
    fence_all();
    return true;
}

void Meter::fence_tails(std::uint64_t now)
{
    std::lock_guard guard(lock_);
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

std::uint64_t Meter::in_flight_ns(std::uint64_t now)
{
    std::lock_guard guard(lock_);
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
        std::uint64_t ran = behind(now, began_ns(*stream, *first));
        std::uint64_t left = first->pending_ns > ran ? first->pending_ns - ran : ran - first->pending_ns;
        total += stream->pending_ns - first->pending_ns + left + 1;
    }
    /* What runs side by side has completed earlier than the sum says. */
    double side_by_side = mean_added_ > 0 ? std::clamp(mean_ran_ / mean_added_, 1.0, std::max(busy, 1.0)) : 1;
    return static_cast<std::uint64_t>(double(total) / side_by_side);
}

Meter::Progress Meter::progress()
{
    std::lock_guard guard(lock_);
    Progress progress{completed_, 0};
    for (const Stream *stream : streams_) {
        if (stream->first)
            progress.expected_ns = std::max(progress.expected_ns, stream->first->estimate_ns);
    }
    return progress;
}

void Meter::suspect(std::uint64_t now)
{
    std::lock_guard guard(lock_);
    for (Stream *stream : streams_) {
        if (stream->first)
            stream->first->suspected_ns = now;
    }
}

bool Meter::waits_for_program(std::uint64_t now)
{
    std::lock_guard guard(lock_);
    return std::any_of(streams_.begin(), streams_.end(), [now](const Stream *stream) {
        const Record *first = stream->first;
        return first && first->waits && behind(now, began_ns(*stream, *first)) <= Stall::patience_ns;
    });
}

bool Meter::idle()
{
    std::lock_guard guard(lock_);
    return std::all_of(streams_.begin(), streams_.end(), [](const Stream *stream) {
        return !stream->first && !stream->tail && !stream->fence_pending && stream->context->state != Context::ending;
    });
}

bool Meter::unknown_in_flight()
{
    std::lock_guard guard(lock_);
    return std::any_of(streams_.begin(), streams_.end(),
                       [](const Stream *stream) { return stream->fence_pending && stream->fence_unknown; });
}

std::uint64_t Meter::estimate_ns(const Key &key, std::uint32_t stands_for)
{
    std::lock_guard guard(lock_);
    return std::max(estimates_.of(key), by_samples_ns(stands_for));
}

std::uint64_t Meter::take_gpu_ns(std::uint64_t ended)
{
    std::lock_guard guard(lock_);
    if (std::uint64_t missing = not_stood_for(ended); missing && samples_for_ > 0) {
        sampled_ns_ += std::max(by_samples_ns(missing), ended == end_asked_for_ ? waited_ns_ : 0);
        counted_ += missing;
        /* The next sample would stand for them, too. */
        ahead_ += missing;
    }
    std::uint64_t total = gpu_ns_ + sampled_ns_;
    sampled_ns_ = gpu_ns_ = 0;
    double filled = occupancy_.mean();
    return filled < 1 ? static_cast<std::uint64_t>(double(total) * filled) : total;
}

void Meter::weigh(CUdevice ordinal)
{
    std::lock_guard guard(lock_);
    occupancy_.begin(ordinal);
}

double Meter::occupancy()
{
    std::lock_guard guard(lock_);
    return occupancy_.mean();
}

std::uint64_t Meter::submissions_in(std::uint64_t ns)
{
    std::lock_guard guard(lock_);
    if (samples_for_ <= 0)
        return 0;
    return static_cast<std::uint64_t>(std::clamp(double(ns) * samples_for_ / std::max(samples_ns_, 1.0), 1.0, 1e9));
}

void Meter::forget_samples()
{
    std::lock_guard guard(lock_);
    samples_ns_ = samples_for_ = 0;
    ahead_ = 0;
}

void Meter::stream_ends(CUstream handle)
{
    std::lock_guard guard(lock_);
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
    std::lock_guard guard(lock_);
    for (Stream *stream : streams_)
        stream->ended = stream->ended || stream->owner == &thread;
}

void Meter::context_ends(Context &context)
{
    std::lock_guard guard(lock_);
    if (context.state == Context::alive)
        context.state = Context::ending;
}

void Meter::context_ended(Context &context, bool gone)
{
    std::lock_guard guard(lock_);
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
