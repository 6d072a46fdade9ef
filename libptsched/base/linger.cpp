// SPDX-License-Identifier: MIT
#include "libptsched/base/linger.hpp"

#include <algorithm>

namespace ptsched {
namespace {

/* In usual lingers: about what a hand-over and the way back take on an H200, and the least that is waited. */
constexpr std::uint64_t switch_lingers = 8, usual_in_least = 4;

} // namespace

/* Had it always lingered for so long. */
std::uint64_t Linger::cost_ns(std::uint64_t linger, std::uint64_t usual) const
{
    std::uint64_t cost = 0;
    for (std::uint64_t away : away_) {
        away = away ? away : usual;
        cost += away <= linger ? away : linger + switch_lingers * usual;
    }
    return cost;
}

void Linger::came_back(std::uint64_t asked, std::uint64_t got, std::uint64_t usual)
{
    std::uint64_t left = idle_since_.exchange(0, std::memory_order_relaxed);
    const std::uint64_t longest = switch_lingers * usual;
    if (!left || asked <= left || got - asked > longest)
        return;
    Guard guard(lock_);
    away_[next_++ % away_.size()] = asked - left;
    std::uint64_t best = usual / usual_in_least, least_cost = cost_ns(best, usual);
    auto consider = [&](std::uint64_t linger) PTSCHED_REQUIRES(lock_) {
        if (std::uint64_t cost = cost_ns(linger, usual); cost < least_cost) {
            best = linger;
            least_cost = cost;
        }
    };
    consider(usual);
    /* A little longer than it was away, or it would leave just before the end of the next such time. */
    for (std::uint64_t away : away_) {
        if (away > usual && away <= longest)
            consider(std::min(away + away / 4, longest));
    }
    best_.store(best, std::memory_order_relaxed);
}

} // namespace ptsched
