/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_TASKS_EXCLUSION_HPP
#define PTSCHED_TASKS_EXCLUSION_HPP

#include "libptsched/base/lock.hpp"
#include "libptsched/tasks/task.hpp"

#include <utility>

namespace ptsched::tasks {

/* What commutative accesses of one range share: one task has it at a time. Thread-safe. */
class Exclusion {
public:
    /* False if another has it. */
    bool take()
    {
        Guard lock(mutex_);
        return !std::exchange(taken_, true);
    }
    /* From then on @task is among those that give_back() returns, unless nobody has it: then false. */
    bool await(Task &task)
    {
        Guard lock(mutex_);
        if (!taken_)
            return false;
        task.next = waiting_;
        waiting_ = &task;
        return true;
    }
    /* Those that wait for it, to ask again; linked by next. */
    Task *give_back()
    {
        Guard lock(mutex_);
        taken_ = false;
        return std::exchange(waiting_, nullptr);
    }

private:
    SmallMutex mutex_;
    bool taken_ PTSCHED_GUARDED_BY(mutex_) = false;
    Task *waiting_ PTSCHED_GUARDED_BY(mutex_) = nullptr;
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_EXCLUSION_HPP */
