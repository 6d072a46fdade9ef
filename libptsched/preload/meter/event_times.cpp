// SPDX-License-Identifier: MIT
#include "libptsched/preload/meter/event_times.hpp"

#include <algorithm>

namespace ptsched::preload {

double IntervalUnion::add(double begin, double end)
{
    if (end <= begin)
        return 0;
    double added = end - begin;
    auto first = std::lower_bound(intervals_.begin(), intervals_.end(), begin,
                                  [](const Interval &i, double b) { return i.end < b; });
    auto last = first;
    Interval merged{begin, end};
    for (; last != intervals_.end() && last->begin <= end; ++last) {
        added -= std::min(end, last->end) - std::max(begin, last->begin);
        merged.begin = std::min(merged.begin, last->begin);
        merged.end = std::max(merged.end, last->end);
    }
    if (first == last) {
        intervals_.insert(first, merged);
    } else {
        *first = merged;
        intervals_.erase(first + 1, last);
    }
    if (intervals_.size() > 2 * kept)
        intervals_.erase(intervals_.begin(), intervals_.end() - kept);
    return std::max(added, 0.0);
}

void IntervalUnion::shift(double by)
{
    for (Interval &interval : intervals_) {
        interval.begin += by;
        interval.end += by;
    }
}

void Periods::begin(std::uint64_t now)
{
    if (periods_.size() == kept) {
        Period &oldest = periods_[0], &next = periods_[1];
        next.begin -= oldest.end - oldest.begin;
        next.before = oldest.before;
        periods_.erase(periods_.begin());
    }
    std::uint64_t before = periods_.empty() ? 0 : until(now);
    periods_.push_back({now, UINT64_MAX, before});
}

void Periods::end(std::uint64_t now)
{
    periods_.back().end = now;
}

std::uint64_t Periods::until(std::uint64_t ns) const
{
    auto later = std::upper_bound(periods_.begin(), periods_.end(), ns,
                                  [](std::uint64_t at, const Period &period) { return at < period.begin; });
    if (later == periods_.begin())
        return 0;
    const Period &last = *(later - 1);
    return last.before + std::min(ns, last.end) - last.begin;
}

void EventClock::saw(double begin_ms, double end_ms, std::uint64_t submitted_ns, std::uint64_t now)
{
    /* The host's clock may drift by so much of what has passed since: 1 in 2^13. */
    constexpr double drift = 1.0 / 8192;
    double latest = static_cast<double>(now) - end_ms * 1e6;
    double earliest = static_cast<double>(submitted_ns) - begin_ms * 1e6;

    base_ns_ = seen_ns_ ? std::min(latest, base_ns_ + drift * static_cast<double>(now - seen_ns_)) : latest;
    base_ns_ = std::max(base_ns_, earliest);
    seen_ns_ = now;
}

std::uint64_t EventClock::host_ns(double ms) const
{
    return static_cast<std::uint64_t>(std::max(base_ns_ + ms * 1e6, 0.0));
}

} // namespace ptsched::preload
