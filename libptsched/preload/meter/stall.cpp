// SPDX-License-Identifier: MIT
#include "libptsched/preload/meter/stall.hpp"

#include <algorithm>

namespace ptsched::preload {
namespace {

/* What is known to take long may take so many times as long before something else is suspected. */
constexpr std::uint64_t longer = 4, factor_max = 8;

} // namespace

bool Stall::lets_through(std::uint64_t now, std::uint64_t since, std::uint64_t completed, std::uint64_t expected_ns)
{
    Guard guard(lock_);
    if (completed != completed_) {
        completed_ = completed;
        progress_ns_ = now;
        factor_ = 1;
        left_ = 0;
        return false;
    }
    if (left_ && now < until_ns_) {
        left_--;
        return true;
    }
    std::uint64_t passed = now - std::min(now, std::max(progress_ns_, since));
    if (passed < factor_ * std::max(patience_ns, longer * expected_ns))
        return false;
    progress_ns_ = now;
    factor_ = std::min(2 * factor_, factor_max);
    until_ns_ = now + effect_ns;
    left_ = a_few - 1;
    return true;
}

} // namespace ptsched::preload
