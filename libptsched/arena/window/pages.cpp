// SPDX-License-Identifier: MIT
#include "libptsched/arena/window/pages.hpp"

#include <algorithm>
#include <string>

namespace ptsched::arena {

namespace {

std::size_t align_up(std::size_t value, std::size_t to)
{
    return (value + to - 1) / to * to;
}

} // namespace

void FreeRanges::add(PageRange range)
{
    const auto begin = reinterpret_cast<std::uintptr_t>(range.begin);
    auto next = ranges_.lower_bound(begin);
    if (next != ranges_.end() && next->first == begin + range.bytes) {
        range.bytes += next->second;
        next = ranges_.erase(next);
    }
    if (next != ranges_.begin() && std::prev(next)->first + std::prev(next)->second == begin)
        std::prev(next)->second += range.bytes;
    else
        ranges_.emplace(begin, range.bytes);
}

bool FreeRanges::take_of(std::map<std::uintptr_t, std::size_t>::iterator range, std::size_t bytes,
                         std::size_t alignment, End end, PageRange &taken)
{
    const auto [begin, size] = *range;
    if (size < bytes)
        return false;
    const std::uintptr_t last = (begin + size - bytes) / alignment * alignment;
    const std::uintptr_t at = end == End::low ? align_up(begin, alignment) : last;
    if (at < begin || at > last)
        return false;
    taken = {reinterpret_cast<std::byte *>(at), bytes};
    ranges_.erase(range);
    if (at > begin)
        ranges_.emplace(begin, at - begin);
    if (at + bytes < begin + size)
        ranges_.emplace(at + bytes, begin + size - at - bytes);
    return true;
}

bool FreeRanges::take(std::size_t bytes, std::size_t alignment, End end, PageRange &taken)
{
    if (end == End::low) {
        for (auto it = ranges_.begin(); it != ranges_.end(); ++it)
            if (take_of(it, bytes, alignment, end, taken))
                return true;
        return false;
    }
    for (auto it = ranges_.rbegin(); it != ranges_.rend(); ++it)
        if (take_of(std::prev(it.base()), bytes, alignment, end, taken))
            return true;
    return false;
}

/* False if there are no addresses left. */
bool Pages::grow(std::size_t bytes, End end)
{
    bytes = align_up(bytes, ground_.unit());
    if (bytes > high_ - low_)
        return false;
    const std::size_t offset = end == End::low ? low_ : high_ - bytes;
    ground_.make(offset, bytes);
    free_of(end).add({ground_.begin() + offset, bytes});
    if (end == End::low)
        low_ += bytes;
    else
        high_ -= bytes;
    return true;
}

PageRange Pages::take(std::size_t bytes, std::size_t alignment, End end)
{
    const End other = end == End::low ? End::high : End::low;
    PageRange taken{};
    const Guard lock(mutex_);
    bytes = align_up(std::max<std::size_t>(bytes, 1), page_bytes);
    alignment = std::max(alignment, page_bytes);
    if (bytes > ground_.bytes() || alignment > ground_.bytes())
        throw Error("the window has " + std::to_string(ground_.bytes()) + " bytes, and cannot have " +
                    std::to_string(bytes) + " at a multiple of " + std::to_string(alignment));
    if (free_of(end).take(bytes, alignment, end, taken))
        return taken;
    /* Of any such range of a larger one, some begins as it should. */
    if (grow(bytes + (alignment > page_bytes ? alignment : 0), end) && free_of(end).take(bytes, alignment, end, taken))
        return taken;
    if (free_of(other).take(bytes, alignment, end, taken))
        return taken;
    throw Error("the window of " + std::to_string(ground_.bytes()) + " bytes has no addresses left for " +
                std::to_string(bytes) + ": Options::bytes can be more");
}

void Pages::give_back(PageRange range)
{
    const auto offset = static_cast<std::size_t>(range.begin - ground_.begin());
    ground_.clear(offset, range.bytes);
    const Guard lock(mutex_);
    (offset < low_ ? free_low_ : free_high_).add(range);
}

std::size_t Pages::made() const
{
    const Guard lock(mutex_);
    return low_ + ground_.bytes() - high_;
}

} // namespace ptsched::arena
