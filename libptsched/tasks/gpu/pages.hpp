/* SPDX-License-Identifier: MIT */
/* Hints for managed memory, from what tasks declare: where its pages are to be, and what they are for. */
#ifndef PTSCHED_TASKS_GPU_PAGES_HPP
#define PTSCHED_TASKS_GPU_PAGES_HPP

#include "libptsched/tasks/gpu/entries.hpp"

namespace ptsched::tasks {

/*
 * Moves them to a device, ahead of what @queue is given from now on: by @ahead, a queue of the same device, where no
 * work that uses them has to end before.
 */
void move_to_device(Entry &entry, Mode mode, unsigned index, device::Device &device, device::Queue &queue,
                    device::Queue *ahead);
/* Moves them to the host; the marker is reached when they are there. */
device::MarkerPtr move_to_host(Entry &entry, device::Queue &queue);

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_GPU_PAGES_HPP */
