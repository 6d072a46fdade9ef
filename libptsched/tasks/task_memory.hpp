/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_TASKS_TASK_MEMORY_HPP
#define PTSCHED_TASKS_TASK_MEMORY_HPP

#include "libptsched/tasks/lane.hpp"

#include <new>

namespace ptsched::tasks {

/*
 * Memory for tasks, which are made by one thread and end by others: what has ended goes back in magazines, so that who
 * makes tasks knows the next ones before he needs them, and has them brought to his processor. It grows as far as there
 * are tasks at once, and goes with the runtime. Thread-safe, but for the lane.
 */
class TaskMemory {
public:
    TaskMemory() = default;
    ~TaskMemory();
    TaskMemory(const TaskMemory &) = delete;
    TaskMemory &operator=(const TaskMemory &) = delete;

    /* Throws std::bad_alloc. */
    void *take(Lane &lane);
    void give_back(Lane &lane, void *memory) noexcept;

private:
    /* Of magazines, to which any thread adds one and from which any takes all. */
    class Stack {
    public:
        void push(Magazine &magazine)
        {
            magazine.next = first_.load(std::memory_order_relaxed);
            while (!first_.compare_exchange_weak(magazine.next, &magazine, std::memory_order_release,
                                                 std::memory_order_relaxed))
                ;
        }
        Magazine *take_all() { return first_.exchange(nullptr, std::memory_order_acquire); }

    private:
        std::atomic<Magazine *> first_{nullptr};
    };

    static constexpr std::align_val_t alignment{64};
    static constexpr std::size_t stride = (sizeof(Task) + 63) / 64 * 64;

    void refill(Lane &lane);
    Magazine &empty(Lane &lane);
    void *make_slab(std::size_t bytes);

    Stack full_, empty_;
    SmallMutex mutex_;
    std::vector<void *> slabs_ PTSCHED_GUARDED_BY(mutex_);
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_TASK_MEMORY_HPP */
