/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_SPMD_RUN_TASK_GROUP_HPP
#define PTSCHED_SPMD_RUN_TASK_GROUP_HPP

#include "libptsched/spmd/run/workers.hpp"

namespace ptsched::spmd {

/* Work for workers that is waited for before what it uses goes. */
class TaskGroup {
public:
    explicit TaskGroup(Workers &workers) : workers_(workers) {}
    ~TaskGroup()
    {
        Lock lock(mutex_);
        while (under_way_ > 0)
            changed_.wait(lock);
    }
    TaskGroup(const TaskGroup &) = delete;
    TaskGroup &operator=(const TaskGroup &) = delete;

    /* @task throws nothing. Thread-safe. */
    void give(std::function<void()> task)
    {
        {
            const Guard guard(mutex_);
            under_way_++;
        }
        workers_.give([this, task = std::move(task)](unsigned) mutable {
            task();
            task = nullptr;
            const Guard guard(mutex_);
            under_way_--;
            changed_.notify_all();
        });
    }

private:
    Workers &workers_;
    Mutex mutex_;
    std::condition_variable changed_;
    unsigned under_way_ PTSCHED_GUARDED_BY(mutex_) = 0;
};

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_RUN_TASK_GROUP_HPP */
