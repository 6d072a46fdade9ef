/* SPDX-License-Identifier: MIT */
/*
 * Which of several devices runs a task. Nobody knows how long it will take: so tasks wait here until a device has few
 * left, and it gets the first one that costs it hardly more copies than it would others.
 */
#ifndef PTSCHED_TASKS_GPU_DISTRIBUTION_HPP
#define PTSCHED_TASKS_GPU_DISTRIBUTION_HPP

#include "libptsched/tasks/gpu/directory.hpp"

#include <set>
#include <span>
#include <vector>

namespace ptsched::tasks {

/* For the thread that serves. */
class Distribution {
public:
    explicit Distribution(Directory &directory) : directory_(directory) {}
    Distribution(const Distribution &) = delete;
    Distribution &operator=(const Distribution &) = delete;

    /* A task that is ready, and may run on any device. */
    void add(Task &task) { waiting_.insert(&task); }
    bool is_empty() const { return waiting_.empty(); }
    /*
     * What that device is to run next; null: nothing now. @loads: tasks of each device that have not ended.
     */
    Task *take(std::size_t device, std::span<const std::size_t> loads);

private:
    struct IsBefore {
        bool operator()(const Task *one, const Task *other) const
        {
            return is_behind(*other, *one) || (!is_behind(*one, *other) && one < other);
        }
    };

    Directory &directory_;
    std::set<Task *, IsBefore> waiting_;
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_GPU_DISTRIBUTION_HPP */
