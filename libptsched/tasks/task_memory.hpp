/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_TASKS_TASK_MEMORY_HPP
#define PTSCHED_TASKS_TASK_MEMORY_HPP

#include "libptsched/tasks/lane.hpp"

#include <new>

namespace ptsched::tasks {

/*
 * Memory for tasks, which are made by one thread and end by others: each lane keeps a few, and gives others what it has
 * too many of, all at once. It grows as far as there are tasks at once, and goes with the runtime. Thread-safe, but for
 * the lane.
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
    struct Free {
        Free *next;
    };
    static constexpr std::size_t at_once = 64, most_kept = 128;
    static constexpr std::align_val_t alignment{64};
    static constexpr std::size_t stride = (sizeof(Task) + 63) / 64 * 64;

    void refill(Lane &lane);

    std::atomic<Free *> free_{nullptr};
    SmallMutex mutex_;
    std::vector<void *> slabs_ PTSCHED_GUARDED_BY(mutex_);
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_TASK_MEMORY_HPP */
