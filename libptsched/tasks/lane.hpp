/* SPDX-License-Identifier: MIT */
/* What each worker has for itself, so that workers seldom meet: ready tasks, tasks to be made, and counters. */
#ifndef PTSCHED_TASKS_LANE_HPP
#define PTSCHED_TASKS_LANE_HPP

#include "libptsched/base/lock.hpp"
#include "libptsched/tasks/task.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <type_traits>
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
    /* What it is at: looks for a task, makes or runs one; and those tasks of these that wait for others. */
    std::atomic<unsigned> running{0}, waiting{0};
};

/* As long as one lives, it is one of those that @number says are at something. */
class Counted {
public:
    explicit Counted(std::atomic<unsigned> &number) : number_(number)
    {
        number_.fetch_add(1, std::memory_order_acq_rel);
    }
    ~Counted() { number_.fetch_sub(1, std::memory_order_acq_rel); }
    Counted(const Counted &) = delete;
    Counted &operator=(const Counted &) = delete;

private:
    std::atomic<unsigned> &number_;
};

/* All of a runtime: the first is that of the threads that are no workers. */
class Lanes {
public:
    explicit Lanes(unsigned count) : count_(count), lanes_(std::make_unique<Lane[]>(count)) {}

    unsigned size() const { return count_; }
    Lane &operator[](unsigned i) const { return lanes_[i]; }
    Lane &shared() const { return lanes_[0]; }
    Lane *begin() const { return lanes_.get(); }
    Lane *end() const { return lanes_.get() + count_; }
    bool is_shared(const Lane &lane) const { return &lane == lanes_.get(); }

    template <typename Number>
    void count(Lane &lane, std::atomic<Number> Lane::*number, std::type_identity_t<Number> more = 1) const
    {
        std::atomic<Number> &counter = lane.*number;
        if (is_shared(lane))
            counter.fetch_add(more, std::memory_order_release);
        else
            counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_release);
    }
    template <typename Number> Number sum(std::atomic<Number> Lane::*number) const
    {
        Number sum = 0;
        for (const Lane &lane : *this)
            sum += (lane.*number).load(std::memory_order_acquire);
        return sum;
    }

private:
    const unsigned count_;
    const std::unique_ptr<Lane[]> lanes_;
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_LANE_HPP */
