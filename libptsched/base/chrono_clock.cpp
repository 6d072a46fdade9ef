// SPDX-License-Identifier: MIT
#include "libptsched/base/time_calls.hpp"
#include <ptsched/base/chrono_clock.hpp>

#include <algorithm>

namespace ptsched {

namespace {

std::atomic<const std::atomic<Clock::rep> *> followed{nullptr};

} // namespace

void Clock::follow(const std::atomic<rep> *hand)
{
    followed.store(hand);
}

Clock::time_point Clock::now()
{
    const std::atomic<rep> *hand = followed.load(std::memory_order_acquire);
    return hand ? time_point(duration(hand->load())) : time_point(std::chrono::nanoseconds(monotonic_ns()));
}

Clock::duration Clock::stretch_until(time_point time)
{
    constexpr std::chrono::milliseconds between_looks{1};
    const duration left = std::max(time - now(), duration::zero());
    return followed.load(std::memory_order_acquire) ? std::min<duration>(left, between_looks) : left;
}

} // namespace ptsched
