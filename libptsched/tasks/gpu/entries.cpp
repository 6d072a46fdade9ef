// SPDX-License-Identifier: MIT
#include "libptsched/tasks/gpu/entries.hpp"

#include <algorithm>

namespace ptsched::tasks {

Entry &Entries::make(const Range &range)
{
    auto made = std::make_unique<Entry>(range);
    Entry &entry = *made;
    each_overlapping(range, [&](Entry &other) { entry.overlapping.push_back(&other); });
    entries_.emplace(range, std::move(made));
    by_span_[span_class(range)].emplace(range.begin, &entry);
    for (Entry *other : entry.overlapping)
        other->overlapping.push_back(&entry);
    return entry;
}

device::DatablockPtr Entries::erase(Entry &entry)
{
    device::DatablockPtr block = std::move(entry.block);
    unindex(entry);
    entries_.erase(Range(entry.range));
    return block;
}

void Entries::unindex(Entry &entry)
{
    for (Entry *other : entry.overlapping) {
        const auto at = std::find(other->overlapping.begin(), other->overlapping.end(), &entry);
        *at = other->overlapping.back();
        other->overlapping.pop_back();
    }
    auto &same = by_span_[span_class(entry.range)];
    const auto [begin, end] = same.equal_range(entry.range.begin);
    same.erase(std::find_if(begin, end, [&](const auto &one) { return one.second == &entry; }));
}

} // namespace ptsched::tasks
