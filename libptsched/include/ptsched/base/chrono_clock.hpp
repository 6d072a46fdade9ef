/* SPDX-License-Identifier: MIT */
/*
 * A clock for std::chrono, which is all that libraries for graphs see of time: the steady clock, or, in a test, one
 * that is driven by hand. Who looks at the time or waits until a time does so here.
 */
#ifndef PTSCHED_BASE_CHRONO_CLOCK_HPP
#define PTSCHED_BASE_CHRONO_CLOCK_HPP

#include <ptsched/base/thread_safety.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#pragma GCC visibility push(default)

namespace ptsched {

class Clock {
public:
    using duration = std::chrono::steady_clock::duration;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::steady_clock::time_point;
    static constexpr bool is_steady = true;

    static time_point now();
    /*
     * For how long one may wait at a stretch until @time, and then look at the clock again; none if it has come. One
     * that is driven by hand tells nobody that it goes on.
     */
    static duration stretch_until(time_point time);
    /*
     * Blocks until @condition holds, or until @time; whether it holds. It may need the lock, which the analysis does
     * not see here.
     */
    template <typename Condition>
    static bool wait_until(std::condition_variable &changed, std::unique_lock<std::mutex> &lock, time_point time,
                           Condition condition) PTSCHED_NO_THREAD_SAFETY_ANALYSIS
    {
        for (;;) {
            if (condition())
                return true;
            const duration stretch = stretch_until(time);
            if (stretch == duration::zero())
                return false;
            changed.wait_for(lock, stretch);
        }
    }
    /* From now on, the time since the clock's epoch is what @hand holds; null: that of the steady clock. */
    static void follow(const std::atomic<rep> *hand);
};

} // namespace ptsched

#pragma GCC visibility pop

#endif /* PTSCHED_BASE_CHRONO_CLOCK_HPP */
