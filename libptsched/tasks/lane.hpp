/* SPDX-License-Identifier: MIT */
/* What each worker has for itself, so that workers seldom meet: ready tasks, tasks to be made, and counters. */
#ifndef PTSCHED_TASKS_LANE_HPP
#define PTSCHED_TASKS_LANE_HPP

#include "libptsched/base/lock.hpp"
#include "libptsched/tasks/task.hpp"

#include <atomic>
#include <vector>

namespace ptsched::tasks {

/* Ready tasks of one worker, who takes the last one; others take from the front, several at once. Thread-safe. */
class ReadyQueue {
public:
    static constexpr std::size_t most_at_once = 32;

    void push(Task &task)
    {
        Guard lock(mutex_);
        const std::size_t size = size_.load(std::memory_order_relaxed);
        if (size == ring_.size())
            grow();
        ring_[(begin_ + size) & (ring_.size() - 1)] = &task;
        size_.store(size + 1, std::memory_order_relaxed);
    }
    Task *pop()
    {
        if (empty())
            return nullptr;
        Guard lock(mutex_);
        const std::size_t size = size_.load(std::memory_order_relaxed);
        if (!size)
            return nullptr;
        size_.store(size - 1, std::memory_order_relaxed);
        return ring_[(begin_ + size - 1) & (ring_.size() - 1)];
    }
    /* Half of them, or @all, but no more than @tasks has room for; returns how many. None if somebody else is at it. */
    std::size_t steal(Task *(&tasks)[most_at_once], bool all)
    {
        if (empty() || !mutex_.try_lock())
            return 0;
        const Guard<SmallMutex> lock(mutex_, std::adopt_lock);
        const std::size_t size = size_.load(std::memory_order_relaxed);
        const std::size_t count = std::min(all ? size : (size + 1) / 2, most_at_once);
        for (std::size_t i = 0; i < count; i++)
            tasks[i] = ring_[(begin_ + i) & (ring_.size() - 1)];
        begin_ += count;
        size_.store(size - count, std::memory_order_relaxed);
        return count;
    }
    bool empty() const { return !size_.load(std::memory_order_relaxed); }

private:
    void grow() PTSCHED_REQUIRES(mutex_)
    {
        std::vector<Task *> larger(ring_.empty() ? 64 : 2 * ring_.size());
        for (std::size_t i = 0; i < ring_.size(); i++)
            larger[i] = ring_[(begin_ + i) & (ring_.size() - 1)];
        ring_ = std::move(larger);
        begin_ = 0;
    }

    SmallMutex mutex_;
    std::vector<Task *> ring_ PTSCHED_GUARDED_BY(mutex_); /* of a power of two */
    std::size_t begin_ PTSCHED_GUARDED_BY(mutex_) = 0;
    std::atomic<std::size_t> size_{0};
};

/* Memory of tasks that have ended. */
struct Magazine {
    static constexpr std::size_t most = 62;
    Magazine *next = nullptr;
    std::size_t count = 0;
    void *tasks[most];
};

struct alignas(64) Lane {
    ReadyQueue ready;

    /* Memory of tasks, see TaskMemory: by the lane's thread, or who has the lock of that which many use. */
    alignas(64) Magazine *taken = nullptr;
    Magazine *given_back = nullptr, *full = nullptr, *empty = nullptr; /* the last two with others behind them */
    SmallMutex mutex; /* of the lane of the threads that are no workers */

    /* By the same; others read them. */
    alignas(64) std::atomic<std::uint64_t> made{0}, ended{0}; /* tasks that are inside no other */
    std::atomic<std::uint64_t> made_inside{0}, ended_inside{0}, gates_made{0}, gates_ended{0}, ran{0}, edges{0},
        steals{0}, sleeps{0};
    std::atomic<unsigned> running{0}, waiting{0}; /* tasks whose functions it has called, and those of them that wait */
    unsigned next_victim = 0;
    std::size_t stolen = 0;                     /* the last time */
    std::uint64_t stolen_at = 0, ran_until = 0; /* in cycles: a steal, and the end of the last task; and tasks since */
    unsigned ran_since_steal = 0;
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_LANE_HPP */
