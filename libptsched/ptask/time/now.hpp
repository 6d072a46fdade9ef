/* SPDX-License-Identifier: MIT */
/* The time, for who needs it only now and then: to look at the clock takes as long as to take a lock. */
#ifndef PTSCHED_PTASK_TIME_NOW_HPP
#define PTSCHED_PTASK_TIME_NOW_HPP

#include <ptsched/base/chrono_clock.hpp>

namespace ptsched::ptask {

class Now {
public:
    /* As it was when somebody looked last, unless it has passed since. */
    Clock::time_point get() { return is_known_ ? at_ : look(); }
    Clock::time_point look()
    {
        is_known_ = true;
        return at_ = Clock::now();
    }
    void passes() { is_known_ = false; }

private:
    Clock::time_point at_;
    bool is_known_ = false;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_TIME_NOW_HPP */
