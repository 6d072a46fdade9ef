/* SPDX-License-Identifier: MIT */
/* For threads that others wait for, and that never have much to do. */
#ifndef PTSCHED_BASE_BE_PROMPT_HPP
#define PTSCHED_BASE_BE_PROMPT_HPP

#include <sched.h>
#include <sys/resource.h>

namespace ptsched {

/*
 * Gives the calling thread the lowest real-time priority: of the fair class even nice -20 may wait some milliseconds
 * for who has just begun to run. Where that is not allowed it gets nice -20, and where not even that, it stays as it
 * is.
 */
inline void be_prompt()
{
    const sched_param lowest{.sched_priority = sched_get_priority_min(SCHED_RR)};
    if (sched_setscheduler(0, SCHED_RR, &lowest) < 0)
        setpriority(PRIO_PROCESS, 0, -20);
}

/*
 * Where such a thread sleeps. Its wake-up takes the CPU from whoever it finds there, who may then stand behind others
 * for milliseconds where all CPUs are busy.
 */
class SleepingPlace {
public:
    /* The calling thread, which may be on the CPUs where it may be now. */
    SleepingPlace()
    {
        if (sched_getaffinity(0, sizeof(allowed_), &allowed_) < 0)
            CPU_ZERO(&allowed_);
    }

    /* Before it sleeps: if it is on one of these CPUs, it goes to another, if there is one. */
    void avoid(const cpu_set_t &cpus) const
    {
        const int here = sched_getcpu();
        if (here < 0 || !CPU_ISSET(here, &cpus))
            return;
        cpu_set_t others = allowed_;
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &cpus))
                CPU_CLR(cpu, &others);
        if (CPU_COUNT(&others))
            sched_setaffinity(0, sizeof(others), &others);
    }
    void avoid(int cpu) const
    {
        cpu_set_t one;
        CPU_ZERO(&one);
        if (cpu >= 0)
            CPU_SET(cpu, &one);
        avoid(one);
    }

private:
    cpu_set_t allowed_;
};

} // namespace ptsched

#endif
