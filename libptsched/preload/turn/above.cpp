// SPDX-License-Identifier: MIT
#include "libptsched/preload/turn/above.hpp"

#include <algorithm>

namespace ptsched::preload {
namespace {

/* Of shorter turns two switches are too large a part. */
constexpr std::uint64_t least_ns = 1000000;
/* Longer ones are interrupted by the end of a long time slice, and by others who are to have their turns. */
constexpr std::uint64_t most_ns = 30000000;
/* In tenths: with less of its turn on the device it has pauses, however it waits. */
constexpr std::uint64_t busy_tenths = 7;
/*
 * After a failure it is not tried for some turns, twice as many each time that it fails again before as many were good.
 * So where every fifth would fail, hardly any does.
 */
constexpr unsigned rest_max = 1024;

} // namespace

void Above::turn_ended(const Turn &turn, std::uint64_t now)
{
    const bool paused = settled_at_.exchange(never, std::memory_order_relaxed) < turn.submissions;
    const bool good =
        !paused && turn.gpu_ns >= least_ns && turn.span_ns <= most_ns && turn.gpu_ns * 10 >= turn.span_ns * busy_tenths;
    ended_at_.store(turn.submissions, std::memory_order_relaxed);
    ended_ns_.store(now, std::memory_order_relaxed);
    score_.store((3 * score_.load(std::memory_order_relaxed) + good * all) / 4, std::memory_order_relaxed);
    if (!turn.above) {
        unsigned skipped = skipped_.load(std::memory_order_relaxed);
        skipped_.store(skipped ? skipped - 1 : 0, std::memory_order_relaxed);
        return;
    }
    if (good) {
        if (++good_since_ >= rest_)
            rest_ = rest_min;
        return;
    }
    skipped_.store(rest_, std::memory_order_relaxed);
    rest_ = std::min(2 * rest_, rest_max);
    good_since_ = 0;
}

} // namespace ptsched::preload
