// SPDX-License-Identifier: MIT
#include "libptsched/tasks/task_memory.hpp"

namespace ptsched::tasks {

TaskMemory::~TaskMemory()
{
    for (void *slab : slabs_)
        ::operator delete(slab, alignment);
}

void *TaskMemory::take(Lane &lane)
{
    if (!lane.free)
        refill(lane);
    Free *taken = static_cast<Free *>(lane.free);
    lane.free = taken->next;
    return taken;
}

void TaskMemory::give_back(Lane &lane, void *memory) noexcept
{
    Free *free = new (memory) Free{static_cast<Free *>(lane.given_back)};
    lane.given_back = free;
    if (++lane.given_back_count < most_kept)
        return;
    Free *last = free;
    while (last->next)
        last = last->next;
    Free *head = free_.load(std::memory_order_relaxed);
    do
        last->next = head;
    while (!free_.compare_exchange_weak(head, free, std::memory_order_release, std::memory_order_relaxed));
    lane.given_back = nullptr;
    lane.given_back_count = 0;
}

/* What the lane has itself, all that others have given back, or new memory. */
void TaskMemory::refill(Lane &lane)
{
    lane.free = std::exchange(lane.given_back, nullptr);
    lane.given_back_count = 0;
    if (!lane.free)
        lane.free = free_.exchange(nullptr, std::memory_order_acquire);
    if (lane.free)
        return;
    auto *slab = static_cast<std::byte *>(::operator new(at_once *stride, alignment));
    {
        Guard lock(mutex_);
        slabs_.push_back(slab);
    }
    Free *next = nullptr;
    for (std::size_t i = at_once; i-- > 0;)
        next = new (slab + i * stride) Free{next};
    lane.free = next;
}

} // namespace ptsched::tasks
