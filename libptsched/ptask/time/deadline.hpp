/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PTASK_TIME_DEADLINE_HPP
#define PTSCHED_PTASK_TIME_DEADLINE_HPP

#include "libptsched/base/worker.hpp"
#include "libptsched/ptask/time/now.hpp"
#include <ptsched/ptask/graph.hpp>

#include <algorithm>

namespace ptsched::ptask {

/* A longer timeout is for ever: no clock has what is behind its end. */
constexpr std::chrono::hours longest_timeout{24 * 365};

inline Deadline deadline_of(Timeout timeout)
{
    if (!timeout || *timeout > longest_timeout)
        return {};
    return Clock::now() + std::max(*timeout, Timeout::value_type(0));
}

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_TIME_DEADLINE_HPP */
