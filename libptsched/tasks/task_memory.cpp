// SPDX-License-Identifier: MIT
#include "libptsched/tasks/task_memory.hpp"

#include <utility>

namespace ptsched::tasks {

namespace {

/* So many tasks before it is made, its memory is brought to the processor. */
constexpr std::size_t ahead = 3;

} // namespace

TaskMemory::~TaskMemory()
{
    for (void *slab : slabs_)
        ::operator delete(slab, alignment);
}

void *TaskMemory::take(Lane &lane)
{
    if (!lane.taken || !lane.taken->count)
        refill(lane);
    Magazine &magazine = *lane.taken;
    void *memory = magazine.tasks[--magazine.count];
    if (magazine.count >= ahead)
        Task::prefetch<Task::Use::write>(magazine.tasks[magazine.count - ahead]);
    return memory;
}

/* Where there is no memory for a magazine, the task's stays unused until the runtime ends. */
void TaskMemory::give_back(Lane &lane, void *memory) noexcept
{
    if (lane.given_back && lane.given_back->count == Magazine::most)
        full_.push(*std::exchange(lane.given_back, nullptr));
    try {
        if (!lane.given_back)
            lane.given_back = &empty(lane);
    } catch (const std::bad_alloc &) {
        return;
    }
    lane.given_back->tasks[lane.given_back->count++] = memory;
}

Magazine &TaskMemory::empty(Lane &lane)
{
    if (!lane.empty)
        lane.empty = empty_.take_all();
    if (!lane.empty)
        return *new (make_slab(sizeof(Magazine))) Magazine;
    return *std::exchange(lane.empty, lane.empty->next);
}

/* What the lane has itself, all that others have given back, or new memory. */
void TaskMemory::refill(Lane &lane)
{
    if (lane.taken)
        empty_.push(*std::exchange(lane.taken, nullptr));
    if (!lane.full)
        lane.full = full_.take_all();
    if (lane.full) {
        lane.taken = std::exchange(lane.full, lane.full->next);
    } else if (lane.given_back && lane.given_back->count) {
        lane.taken = std::exchange(lane.given_back, nullptr);
    } else {
        Magazine &made = empty(lane);
        auto *slab = static_cast<std::byte *>(make_slab(Magazine::most * stride));
        for (; made.count < Magazine::most; made.count++)
            made.tasks[made.count] = slab + made.count * stride;
        lane.taken = &made;
    }
}

void *TaskMemory::make_slab(std::size_t bytes)
{
    void *slab = ::operator new(bytes, alignment);
    Guard lock(mutex_);
    slabs_.push_back(slab);
    return slab;
}

} // namespace ptsched::tasks
