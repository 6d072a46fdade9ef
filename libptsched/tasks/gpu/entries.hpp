/* SPDX-License-Identifier: MIT */
/* The ranges that tasks on GPUs have declared, by their shapes, and which of them have a byte in common. */
#ifndef PTSCHED_TASKS_GPU_ENTRIES_HPP
#define PTSCHED_TASKS_GPU_ENTRIES_HPP

#include "libptsched/tasks/gpu/stream.hpp"
#include <ptsched/device/allocation.hpp>
#include <ptsched/device/datablock.hpp>

#include <array>
#include <bit>
#include <functional>
#include <map>
#include <unordered_map>

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
    bool away = false;          /* it was written on a device, and is not on the host */
    device::MarkerPtr arrival;  /* then, if it is on its way to the host */
    Position used{}, written{}; /* by the last task that did */
    std::uint64_t last_used = 0;
    std::vector<Entry *> overlapping;         /* others that have a byte of it */
    Entry *older = nullptr, *newer = nullptr; /* of those that may have a copy on a device */
    bool is_listed = false;
};

class Entries {
public:
    Entries() = default;
    Entries(const Entries &) = delete;
    Entries &operator=(const Entries &) = delete;

    /* Null if there is none. */
    Entry *find(const Range &range)
    {
        const auto found = entries_.find(range);
        return found == entries_.end() ? nullptr : found->second.get();
    }
    /* There was none. */
    Entry &make(const Range &range);
    /* Nobody has it any more; its block goes to the caller. */
    device::DatablockPtr erase(Entry &entry);
    std::size_t size() const { return entries_.size(); }

    /* Each that has a byte of @range. None is made or erased meanwhile. */
    template <typename Found> void each_overlapping(const Range &range, Found found);
    /* Of those that for_which() says yes to, the blocks. */
    template <typename Which> std::vector<device::DatablockPtr> erase_if(Which which);

private:
    struct Hash {
        std::size_t operator()(const Range &range) const
        {
            /* Tiles of a matrix differ in where they begin. */
            const std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(range.begin) * 0x9e3779b97f4a7c15ULL ^
                                        range.row_bytes ^ (range.rows << 20);
            return mixed ^ (mixed >> 29);
        }
    };
    /* Of ranges whose span is less than two to the power of that: so those that begin too early are not looked at. */
    static unsigned span_class(const Range &range) { return static_cast<unsigned>(std::bit_width(range.span())); }
    void unindex(Entry &entry);

    std::unordered_map<Range, std::unique_ptr<Entry>, Hash> entries_;
    std::array<std::multimap<const std::byte *, Entry *>, 65> by_span_;
};

template <typename Found> void Entries::each_overlapping(const Range &range, Found found)
{
    if (Entry *exact = find(range)) {
        found(*exact);
        for (Entry *other : exact->overlapping)
            found(*other);
        return;
    }
    for (std::size_t i = 0; i < by_span_.size(); i++) {
        auto &entries = by_span_[i];
        if (entries.empty())
            continue;
        const std::byte *const end = range.begin + range.span();
        const std::uintptr_t reach = std::uintptr_t{1} << std::min<std::size_t>(i, 63);
        auto at = reinterpret_cast<std::uintptr_t>(range.begin) < reach ? entries.begin()
                                                                        : entries.upper_bound(range.begin - reach);
        for (; at != entries.end() && at->first < end; ++at)
            if (overlap(at->second->range, range))
                found(*at->second);
    }
}

template <typename Which> std::vector<device::DatablockPtr> Entries::erase_if(Which which)
{
    std::vector<device::DatablockPtr> blocks;
    for (auto at = entries_.begin(); at != entries_.end();) {
        if (!which(*at->second)) {
            ++at;
            continue;
        }
        if (at->second->block)
            blocks.push_back(std::move(at->second->block));
        unindex(*at->second);
        at = entries_.erase(at);
    }
    return blocks;
}

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_GPU_ENTRIES_HPP */
