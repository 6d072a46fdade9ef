// SPDX-License-Identifier: MIT
// For threads that others wait for, and that never have much to do.
#ifndef PTSCHED_CLIENT_BE_PROMPT_HPP
#define PTSCHED_CLIENT_BE_PROMPT_HPP

#include <sched.h>
#include <sys/resource.h>

namespace ptsched {

// Gives the calling thread the lowest real-time priority: of the fair class even nice -20 may wait some milliseconds
// for who has just begun to run. Where that is not allowed it gets nice -20, and where not even that, it stays as it
// is.
inline void be_prompt()
{
    const sched_param lowest{.sched_priority = sched_get_priority_min(SCHED_RR)};
    if (sched_setscheduler(0, SCHED_RR, &lowest) < 0)
        setpriority(PRIO_PROCESS, 0, -20);
}

} // namespace ptsched

#endif
