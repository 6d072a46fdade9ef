/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_TASKS_RANGE_INDEX_HPP
#define PTSCHED_TASKS_RANGE_INDEX_HPP

#include <ptsched/tasks/range.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <unordered_map>
#include <vector>

namespace ptsched::tasks {

/*
 * What is known of ranges, by their shapes, and which of them have a byte in common. An @Entry is made of its range,
 * and has it as its member range; its member overlapping, a vector of pointers, is the index's. It stays where it is
 * until it is erased. For one thread at a time.
 */
template <typename Entry> class RangeIndex {
public:
    /* Null if there is none. */
    Entry *find(const Range &range)
    {
        const auto found = entries_.find(range);
        return found == entries_.end() ? nullptr : &found->second;
    }
    /* There was none. */
    Entry &make(const Range &range);
    void erase(Entry &entry)
    {
        unlink(entry);
        entries_.erase(Range(entry.range));
    }
    /* Those that @which says yes to. */
    template <typename Which> void erase_if(Which which)
    {
        for (auto at = entries_.begin(); at != entries_.end();) {
            if (!which(at->second)) {
                ++at;
                continue;
            }
            unlink(at->second);
            at = entries_.erase(at);
        }
    }
    std::size_t size() const { return entries_.size(); }
    auto begin() { return entries_.begin(); }
    auto end() { return entries_.end(); }

    /* Each that has a byte of @range. None is made or erased meanwhile. */
    template <typename Found> void each_overlapping(const Range &range, Found found);

private:
    struct Hash {
        std::size_t operator()(const Range &range) const
        {
            /* Tiles of a matrix differ in where they begin. */
            constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
            std::uint64_t hash = reinterpret_cast<std::uintptr_t>(range.begin) * factor;
            hash = (hash ^ range.row_bytes ^ range.rows << 32) * factor;
            return hash ^ hash >> 32;
        }
    };
    /* Of ranges whose span is less than two to the power of that: so those that begin too early are not looked at. */
    static unsigned span_class(const Range &range) { return static_cast<unsigned>(std::bit_width(range.span())); }
    void unlink(Entry &entry);

    std::unordered_map<Range, Entry, Hash> entries_;
    std::array<std::multimap<const std::byte *, Entry *>, 65> by_span_;
};

template <typename Entry> Entry &RangeIndex<Entry>::make(const Range &range)
{
    std::vector<Entry *> overlapping;
    each_overlapping(range, [&](Entry &other) { overlapping.push_back(&other); });
    Entry &entry = entries_.try_emplace(range, range).first->second;
    by_span_[span_class(range)].emplace(range.begin, &entry);
    for (Entry *other : overlapping)
        other->overlapping.push_back(&entry);
    entry.overlapping = std::move(overlapping);
    return entry;
}

template <typename Entry> void RangeIndex<Entry>::unlink(Entry &entry)
{
    for (Entry *other : entry.overlapping) {
        auto &others = other->overlapping;
        *std::find(others.begin(), others.end(), &entry) = others.back();
        others.pop_back();
    }
    auto &same = by_span_[span_class(entry.range)];
    const auto [begin, end] = same.equal_range(entry.range.begin);
    same.erase(std::find_if(begin, end, [&](const auto &one) { return one.second == &entry; }));
}

template <typename Entry>
template <typename Found>
void RangeIndex<Entry>::each_overlapping(const Range &range, Found found)
{
    if (Entry *exact = find(range)) {
        /* A range of no bytes has none of its own, either. */
        if (range.bytes())
            found(*exact);
        for (Entry *other : exact->overlapping)
            found(*other);
        return;
    }
    const std::byte *const end = range.begin + range.span();
    for (std::size_t i = 0; i < by_span_.size(); i++) {
        auto &entries = by_span_[i];
        if (entries.empty())
            continue;
        const std::uintptr_t reach = std::uintptr_t{1} << std::min<std::size_t>(i, 63);
        auto at = reinterpret_cast<std::uintptr_t>(range.begin) < reach ? entries.begin()
                                                                        : entries.upper_bound(range.begin - reach);
        for (; at != entries.end() && at->first < end; ++at)
            if (overlap(at->second->range, range))
                found(*at->second);
    }
}

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_RANGE_INDEX_HPP */
