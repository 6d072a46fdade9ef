/* SPDX-License-Identifier: MIT */
/*
 * A bounded queue of tasks for any number of threads: Dmitry Vyukov's ring, in which each cell has a number that says
 * whose turn it is with it. The libraries that have it fix the size of an element when they are compiled; a pool's tasks
 * have a size that only its user knows.
 */
#ifndef PTSCHED_POOL_TASK_QUEUE_HPP
#define PTSCHED_POOL_TASK_QUEUE_HPP

#include <ptsched/base/time_source.hpp>

#include <atomic>
#include <bit>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>

namespace ptsched::pool {

/* What goes with a task through the pool. */
struct Label {
    std::uint64_t number; /* of the tasks that were pushed for its output, from 1 on */
    std::uint32_t output;
    std::int16_t device; /* to which it is bound, by its place in the pool; -1: none */
    std::uint8_t kind;
    std::uint8_t where;
};

class TaskQueue {
public:
    /* Of at least @capacity tasks of @bytes each. */
    TaskQueue(std::size_t capacity, std::size_t bytes)
        : last_(std::bit_ceil(capacity < 2 ? 2 : capacity) - 1), stride_(aligned(sizeof(Cell) + bytes)),
          cells_(static_cast<std::byte *>(::operator new((last_ + 1) * stride_, alignment)))
    {
        for (std::size_t i = 0; i <= last_; i++)
            new (&cell(i)) Cell{i, {}};
    }

    /* @fill writes a task, and returns its label; it is not called if there is no room: then false. Does not block. */
    template <typename Fill> bool try_push(Fill fill)
    {
        std::uint64_t at = end_.load(std::memory_order_relaxed);
        for (;;) {
            Cell &place = cell(at);
            const auto distance = static_cast<std::int64_t>(place.turn.load(std::memory_order_acquire) - at);
            if (distance < 0)
                return false;
            if (distance > 0) {
                at = end_.load(std::memory_order_relaxed);
                continue;
            }
            if (!end_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed))
                continue;
            place.label = fill(task_of(place));
            place.turn.store(at + 1, std::memory_order_release);
            return true;
        }
    }

    /* @take reads a task and its label; false if there is none. Does not block. */
    template <typename Take> bool try_pop(Take take)
    {
        std::uint64_t at = begin_.load(std::memory_order_relaxed);
        for (;;) {
            Cell &place = cell(at);
            const auto distance = static_cast<std::int64_t>(place.turn.load(std::memory_order_acquire) - (at + 1));
            if (distance < 0)
                return false;
            if (distance > 0) {
                at = begin_.load(std::memory_order_relaxed);
                continue;
            }
            if (!begin_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed))
                continue;
            take(static_cast<const std::byte *>(task_of(place)), place.label);
            place.turn.store(at + last_ + 1, std::memory_order_release);
            return true;
        }
    }

    /* How many there are, if nobody pushes or pops. */
    std::size_t size() const
    {
        const std::uint64_t begin = begin_.load(std::memory_order_acquire), end = end_.load(std::memory_order_acquire);
        return end > begin ? end - begin : 0;
    }

private:
    struct Cell {
        std::atomic<std::uint64_t> turn;
        Label label;
    };
    struct Deleter {
        void operator()(std::byte *memory) const { ::operator delete(memory, alignment); }
    };
    static constexpr std::align_val_t alignment{64};

    static std::size_t aligned(std::size_t bytes) { return (bytes + 15) / 16 * 16; }
    Cell &cell(std::uint64_t at) { return *reinterpret_cast<Cell *>(cells_.get() + (at & last_) * stride_); }
    static std::byte *task_of(Cell &place) { return reinterpret_cast<std::byte *>(&place + 1); }

    const std::size_t last_, stride_;
    const std::unique_ptr<std::byte, Deleter> cells_;
    /* Each by itself in what processors exchange. */
    alignas(64) std::atomic<std::uint64_t> end_{0};
    alignas(64) std::atomic<std::uint64_t> begin_{0};
};

/* For who waits without a limit: a clock has no room for more. */
inline Clock::time_point no_limit()
{
    return Clock::now() + std::chrono::years(10);
}

/* Threads that sleep until something has changed. Who changes it and finds nobody asleep pays for a fence. */
class Sleepers {
public:
    /* Blocks until @condition holds or @until; whether it holds. Looks a while before it sleeps. */
    template <typename Condition> bool wait_until(Clock::time_point until, Condition condition)
    {
        for (unsigned i = 0; i < looks; i++) {
            if (condition())
                return true;
            __builtin_ia32_pause();
        }
        std::unique_lock lock(mutex_);
        asleep_.fetch_add(1, std::memory_order_seq_cst);
        const bool holds = Clock::wait_until(changed_, lock, until, condition);
        asleep_.fetch_sub(1, std::memory_order_relaxed);
        return holds;
    }

    /* To be called when a condition may hold that did not. */
    void wake()
    {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (!asleep_.load(std::memory_order_relaxed))
            return;
        std::lock_guard lock(mutex_);
        changed_.notify_all();
    }

private:
    static constexpr unsigned looks = 1000;

    std::atomic<unsigned> asleep_{0};
    std::mutex mutex_; /* nobody goes to sleep between a change and the news of it */
    std::condition_variable changed_;
};

} // namespace ptsched::pool

#endif /* PTSCHED_POOL_TASK_QUEUE_HPP */
