// SPDX-License-Identifier: MIT
#include "libptsched/spmd/gpu/kept_input.hpp"

#include <algorithm>

namespace ptsched::spmd {

/* What overlaps it is of an earlier division of the input, if nothing is there any more. */
void KeptInput::expect(const schedule::Range &range)
{
    if (range.empty() || range.size() > most_expected_)
        return;
    const Guard guard(mutex_);
    auto extent = extents_.lower_bound(range.end);
    while (extent != extents_.begin() && std::prev(extent)->second.end > range.begin) {
        --extent;
        const bool is_same = extent->first == range.begin && extent->second.end == range.end;
        if (is_same || (extent->second.copy && parts_in(extent->second.copy) > 0))
            return;
        extent = extents_.erase(extent);
    }
    extents_[range.begin] = {range.end, nullptr};
}

/* That begins there or before. */
KeptInput::Parts::const_iterator KeptInput::part_with(std::uint64_t offset) const
{
    const auto after = parts_.upper_bound(offset);
    return after == parts_.begin() ? parts_.end() : std::prev(after);
}

KeptInput::Place KeptInput::find(const Block &block) const
{
    const Guard guard(mutex_);
    const auto part = part_with(block.offset);
    if (part == parts_.end() || block.offset + block.bytes > part->second.end)
        return {};
    const Place &place = part->second.place;
    const std::size_t offset = place.offset + (block.offset - part->first);
    return offset % alignment == 0 ? Place{place.copy, offset} : Place{};
}

bool KeptInput::has(const schedule::Range &range) const
{
    const Guard guard(mutex_);
    const auto part = part_with(range.begin);
    return part != parts_.end() && range.end <= part->second.end;
}

/* Its memory is made with the lock: others are to have it, too. */
KeptInput::Place KeptInput::in_extent(device::Device &gpu, const Block &block)
{
    const auto after = extents_.upper_bound(block.offset);
    if (after == extents_.begin())
        return {};
    const auto found = std::prev(after);
    auto &[end, copy] = found->second;
    const std::uint64_t offset = block.offset - found->first;
    if (block.offset + block.bytes > end || offset % alignment != 0)
        return {};
    try {
        if (!copy)
            copy = std::make_shared<device::Allocation>(device::Allocation::on_device(gpu, end - found->first));
        return {copy, offset};
    } catch (const device::OutOfMemory &) {
        extents_.erase(found);
        return {};
    }
}

KeptInput::Place KeptInput::make(device::Device &gpu, const Block &block)
{
    {
        const Guard guard(mutex_);
        if (is_full_)
            return {};
        if (Place place = in_extent(gpu, block); place.copy)
            return place;
    }
    try {
        return {std::make_shared<device::Allocation>(device::Allocation::on_device(gpu, block.bytes)), 0};
    } catch (const device::OutOfMemory &) {
        return {};
    }
}

std::vector<schedule::Range> KeptInput::missing(const Block &block, const Place &place) const
{
    const Guard guard(mutex_);
    std::vector<schedule::Range> missing;
    const std::uint64_t end = block.offset + block.bytes;
    std::uint64_t at = block.offset;
    auto part = part_with(at);
    for (part = part == parts_.end() ? parts_.begin() : part; part != parts_.end() && part->first < end; ++part) {
        if (part->second.place.copy != place.copy || part->second.end <= at)
            continue;
        if (part->first > at)
            missing.push_back({at, part->first});
        at = std::min(part->second.end, end);
    }
    if (at < end)
        missing.push_back({at, end});
    return missing;
}

/* Neighbours in the same memory become one. */
void KeptInput::keep(const Block &block, const Place &place)
{
    const Guard guard(mutex_);
    std::uint64_t begin = block.offset;
    Kept all{block.offset + block.bytes, place};
    auto part = parts_.upper_bound(begin);
    if (part != parts_.begin())
        --part;
    while (part != parts_.end() && part->first <= all.end) {
        if (part->second.place.copy != place.copy || part->second.end < begin) {
            ++part;
            continue;
        }
        if (part->first < begin) {
            begin = part->first;
            all.place = part->second.place;
        }
        all.end = std::max(all.end, part->second.end);
        part = parts_.erase(part);
    }
    parts_[begin] = std::move(all);
}

long KeptInput::parts_in(const Copy &copy) const
{
    return std::count_if(parts_.begin(), parts_.end(),
                         [&](const auto &part) { return part.second.place.copy == copy; });
}

bool KeptInput::drop_one()
{
    const Guard guard(mutex_);
    is_full_ = true;
    for (auto extent = extents_.begin(); extent != extents_.end(); ++extent) {
        const Copy copy = extent->second.copy;
        if (!copy || copy.use_count() != 2 + parts_in(copy))
            continue;
        std::erase_if(parts_, [&](const auto &part) { return part.second.place.copy == copy; });
        extents_.erase(extent);
        return true;
    }
    for (auto part = parts_.begin(); part != parts_.end(); ++part)
        if (part->second.place.copy.use_count() == 1) {
            parts_.erase(part);
            return true;
        }
    return false;
}

void KeptInput::forget()
{
    const Guard guard(mutex_);
    parts_.clear();
    is_full_ = false;
}

} // namespace ptsched::spmd
