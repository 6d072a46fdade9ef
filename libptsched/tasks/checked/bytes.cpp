// SPDX-License-Identifier: MIT
#include "libptsched/tasks/checked/bytes.hpp"

#include <algorithm>

namespace ptsched::tasks {

void ByteSet::add(const Range &range)
{
    const auto begin = reinterpret_cast<std::uintptr_t>(range.begin);
    for (std::size_t row = 0; row < range.rows; row++)
        add({begin + row * range.pitch, begin + row * range.pitch + range.row_bytes});
}

void ByteSet::sort()
{
    std::erase_if(stretches_, [](const Bytes &one) { return one.begin >= one.end; });
    std::sort(stretches_.begin(), stretches_.end(), [](const auto &a, const auto &b) { return a.begin < b.begin; });
    std::size_t kept = 0;
    for (const Bytes one : stretches_) {
        if (kept && one.begin <= stretches_[kept - 1].end)
            stretches_[kept - 1].end = std::max(stretches_[kept - 1].end, one.end);
        else
            stretches_[kept++] = one;
    }
    stretches_.resize(kept);
}

ByteSet ByteSet::without(const ByteSet &other) const
{
    ByteSet left;
    auto cut = other.begin();
    for (Bytes one : stretches_) {
        while (cut != other.end() && cut->end <= one.begin)
            ++cut;
        for (auto at = cut; at != other.end() && at->begin < one.end; ++at) {
            if (one.begin < at->begin)
                left.add({one.begin, at->begin});
            one.begin = std::min(at->end, one.end);
        }
        if (one.begin < one.end)
            left.add(one);
    }
    return left;
}

ByteSet ByteSet::within(const ByteSet &other) const
{
    return without(without(other));
}

ByteSet ByteSet::whole_pages() const
{
    ByteSet pages;
    for (const Bytes &one : stretches_)
        pages.add({(one.begin + page_bytes - 1) & -page_bytes, one.end & -page_bytes});
    pages.sort();
    return pages;
}

ByteSet ByteSet::touched_pages() const
{
    ByteSet pages;
    for (const Bytes &one : stretches_)
        pages.add({one.begin & -page_bytes, (one.end + page_bytes - 1) & -page_bytes});
    pages.sort();
    return pages;
}

const Bytes *ByteSet::find(std::uintptr_t address) const
{
    const auto behind = std::upper_bound(stretches_.begin(), stretches_.end(), address,
                                         [](std::uintptr_t byte, const Bytes &one) { return byte < one.begin; });
    return behind != stretches_.begin() && std::prev(behind)->has(address) ? &*std::prev(behind) : nullptr;
}

} // namespace ptsched::tasks
