// SPDX-License-Identifier: MIT
/* What the device's time is charged at: of what has completed, of what runs, and of what is in company. */
#include "libptsched/preload/driver/driver.hpp"
#include "libptsched/preload/meter/meter.hpp"
#include "libptsched/preload/meter/reckoning.hpp"
#include "libptsched/preload/meter/stall.hpp"

#include <algorithm>
#include <utility>

namespace ptsched::preload {
namespace {

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

} // namespace

/* Behind work, so that the device does not wait for the second one. */
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
    else if (record.waits && behind(now, stream.began_ns(record)) > Stall::patience_ns)
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
    std::uint64_t began = stream.began_ns(record), seen = stream.seen_running_ns;
    std::uint64_t ran = behind(seen, began + in_company_ns(began, seen));
    if (ran > 2 * record.estimate_ns + look_ns)
        learn(record, ran);
    else
        ran = record.estimate_ns;
    occupancy_.saw(record.fills, ran);
    gpu_ns_ += behind(ran, record.charged_ns);
    counted_++;
}

/*
 * What it stands for has run since the one before it, and side by side it cannot have run longer than that. The first
 * one stands for itself.
 */
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

void Meter::charge_running(Stream &stream, Record &record, std::uint64_t now)
{
    Context &context = *stream.context;
    std::uint64_t began = stream.began_ns(record), charged_ns = 0;
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
    Guard guard(lock_);
    others_part_ = part;
    company_from_ns_ = std::min(company_from_ns_, ns);
}

void Meter::others_leave(std::uint64_t now)
{
    Guard guard(lock_);
    end_company(now);
}

void Meter::pause(std::uint64_t now)
{
    Guard guard(lock_);
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
    Guard guard(lock_);
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

/* How long so many take together, by the last samples; 0: there are none. */
std::uint64_t Meter::by_samples_ns(std::uint64_t submissions) const
{
    return samples_for_ > 0 ? static_cast<std::uint64_t>(double(submissions) * samples_ns_ / samples_for_) : 0;
}

/* Of the first so many. */
std::uint64_t Meter::not_stood_for(std::uint64_t submissions) const
{
    return behind(submissions, counted_ + under_way_);
}

std::uint64_t Meter::take_gpu_ns(std::uint64_t ended)
{
    Guard guard(lock_);
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
    Guard guard(lock_);
    occupancy_.begin(ordinal);
}

double Meter::occupancy()
{
    Guard guard(lock_);
    return occupancy_.mean();
}

std::uint64_t Meter::submissions_in(std::uint64_t ns)
{
    Guard guard(lock_);
    if (samples_for_ <= 0)
        return 0;
    return static_cast<std::uint64_t>(std::clamp(double(ns) * samples_for_ / std::max(samples_ns_, 1.0), 1.0, 1e9));
}

void Meter::forget_samples()
{
    Guard guard(lock_);
    samples_ns_ = samples_for_ = 0;
    ahead_ = 0;
}

} // namespace ptsched::preload
