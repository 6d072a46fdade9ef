/* SPDX-License-Identifier: MIT */
/*
 * What tasks read that are not ready yet, as far as nobody writes it before: it is brought to the device while there is
 * nothing else to copy. Otherwise the bus would be idle while those before them are given, which takes long where a
 * task is many launches.
 */
#ifndef PTSCHED_TASKS_GPU_AHEAD_HPP
#define PTSCHED_TASKS_GPU_AHEAD_HPP

#include "libptsched/tasks/gpu/directory.hpp"

#include <deque>
#include <functional>

namespace ptsched::tasks {

class Ahead {
public:
    /* In bytes: to begin a copy takes as long as some of it. Tests change it, before there are tasks. */
    static inline std::size_t worth_a_copy = 64 << 10;

    /* @release: the task is not referred to any more. */
    Ahead(const Site &site, Directory &directory, std::function<void(Task &)> release);
    ~Ahead();
    Ahead(const Ahead &) = delete;
    Ahead &operator=(const Ahead &) = delete;

    /* A task that waits for others; before it is given or ends. Any thread. */
    void expect(Task &task);

    /* The rest is for the thread that serves. Begins some copies, in the order of the program. */
    void go_on();
    /* Whether the device has copies of this that have not ended. */
    bool is_copying();

private:
    /* On their way: the bus is busy, and who is ready does not wait long. */
    static constexpr std::size_t most_in_flight = 64 << 20;

    struct Copy {
        device::MarkerPtr arrival;
        std::size_t bytes;
    };
    struct Brought {
        Task *task;
        std::size_t bytes;
    };
    void forget_used();
    Task *next();
    std::size_t bring(const Task &task);
    static bool is_over(const Task &task) { return task.given.is_over() || task.ended.is_over(); }

    const Site &site_;
    Directory &directory_;
    const std::function<void(Task &)> release_;
    const std::size_t most_unused_; /* bytes that are there, or on their way, for tasks that have not been given */
    SmallMutex mutex_;
    std::deque<Task *> expected_ PTSCHED_GUARDED_BY(mutex_);
    std::atomic<std::size_t> count_{0}; /* of these, and of those that it was brought for */
    std::deque<Brought> brought_;
    std::deque<Copy> copies_;
    std::size_t in_flight_ = 0, unused_ = 0;
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_GPU_AHEAD_HPP */
