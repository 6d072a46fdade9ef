/* SPDX-License-Identifier: MIT */
#include "linger.hpp"

#include <algorithm>

namespace ptsched::preload {
namespace {

/* In usual lingers: about what a hand-over and the way back take on an H200. */
constexpr std::uint64_t worthwhile = 8;

} // namespace

void Linger::came_back(std::uint64_t asked, std::uint64_t got, std::uint64_t usual)
{
    std::uint64_t left = idle_since_.exchange(0, std::memory_order_relaxed);
    if (!left || asked < left)
        return;
    std::uint64_t longest = worthwhile * usual, away = asked - left, extra = extra_.load(std::memory_order_relaxed);
    if (away > longest)
        extra -= (extra + 3) / 4;
    else if (got - asked <= longest)
        extra = std::max(extra, std::clamp(away + away / 4, usual, longest) - usual);
    extra_.store(extra, std::memory_order_relaxed);
}

} // namespace ptsched::preload
