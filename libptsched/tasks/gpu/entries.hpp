/* SPDX-License-Identifier: MIT */
/* The ranges that tasks on GPUs have declared. */
#ifndef PTSCHED_TASKS_GPU_ENTRIES_HPP
#define PTSCHED_TASKS_GPU_ENTRIES_HPP

#include "libptsched/tasks/gpu/stream.hpp"
#include "libptsched/tasks/range_index.hpp"
#include <ptsched/device/allocation.hpp>
#include <ptsched/device/datablock.hpp>

namespace ptsched::tasks {

/* What is known of a range, and where its content is. */
struct Entry {
    explicit Entry(const Range &of) : range(of) {}
    Entry(const Entry &) = delete;
    Entry &operator=(const Entry &) = delete;

    const Range range;
    device::DatablockPtr block; /* null: the memory is managed, and its address the same everywhere */
    /* Not null: of memory that is managed and whose pages are moved before they are used. */
    device::Allocation *managed = nullptr;
    bool is_read_mostly = false; /* as the driver was told, and likewise on which device it is best */
    int preferred = -1;
    /* Whether its content moves, and is to be looked after. */
    bool moves() const { return block || managed; }
    /* Which devices are likely to have the content, a bit for each: a hint, since what is there may be evicted. */
    std::uint64_t on_devices = 0;
    std::uint64_t expected_on = 0; /* the same when all tasks that were placed have been given */
    bool is_kept = false;          /* on devices: only who asks for it has it brought to the host */
    bool away = false;             /* it was written on a device, and is not on the host */
    device::MarkerPtr arrival;     /* then, if it is on its way to the host */
    Position used{}, written{};    /* by the last task that did */
    std::uint64_t last_used = 0;
    std::vector<Entry *> overlapping;         /* others that have a byte of it */
    Entry *older = nullptr, *newer = nullptr; /* of those that may have a copy on a device */
    bool is_listed = false;
};

using Entries = RangeIndex<Entry>;

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_GPU_ENTRIES_HPP */
