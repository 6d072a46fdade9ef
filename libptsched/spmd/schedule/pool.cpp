// SPDX-License-Identifier: MIT
#include "libptsched/spmd/schedule/pool.hpp"

#include <algorithm>

namespace ptsched::spmd::schedule {

/* A rest that is smaller than what is taken by that factor goes with it. */
constexpr std::uint64_t small_rest = 8;

void Pool::add(const Range &range, unsigned who)
{
    if (range.empty())
        return;
    Ranges &ranges = ranges_[who];
    auto added = ranges.emplace(range.begin, range.end).first;
    bytes_of_[who] += range.size();
    bytes_ += range.size();
    if (who != everybody)
        return;
    if (const auto next = std::next(added); next != ranges.end() && next->first == added->second) {
        added->second = next->second;
        ranges.erase(next);
    }
    if (added == ranges.begin())
        return;
    if (const auto before = std::prev(added); before->second == added->first) {
        before->second = added->second;
        ranges.erase(added);
    }
}

void Pool::add(const Range &range, const std::vector<Home> &homes)
{
    std::vector<Home> parts, sorted = homes;
    std::uint64_t at = range.begin;
    std::sort(sorted.begin(), sorted.end(), [](const Home &a, const Home &b) { return a.range.begin < b.range.begin; });
    for (const Home &home : sorted) {
        const std::uint64_t begin = std::max(at, border_(home.range.begin));
        const std::uint64_t end = std::min(range.end, border_(home.range.end));
        if (begin >= end)
            continue;
        parts.push_back({everybody, {at, begin}});
        parts.push_back({home.who, {begin, end}});
        at = end;
    }
    parts.push_back({everybody, {at, range.end}});
    for (const Home &part : parts)
        add(part.range, part.who);
}

void Pool::disown(unsigned who)
{
    const auto found = ranges_.find(who);
    if (who == everybody || found == ranges_.end())
        return;
    const Ranges ranges = std::move(found->second);
    ranges_.erase(found);
    bytes_ -= bytes_of(who);
    bytes_of_.erase(who);
    for (const auto &[begin, end] : ranges)
        add({begin, end});
}

std::uint64_t Pool::bytes_of(unsigned who) const
{
    const auto found = bytes_of_.find(who);
    return found == bytes_of_.end() ? 0 : found->second;
}

/* Where a part ends that is to have @bytes from the range's beginning. */
std::uint64_t Pool::cut_after(const Range &range, std::uint64_t bytes) const
{
    if (bytes >= range.size())
        return range.end;
    std::uint64_t wanted = range.begin + std::max<std::uint64_t>(bytes, 1);
    if (grid_)
        wanted = std::max(wanted / grid_, range.begin / grid_ + 1) * grid_;
    const std::uint64_t end = wanted < range.end ? std::min(border_(wanted), range.end) : range.end;
    return grid_ || range.end - end >= bytes / small_rest ? end : range.end;
}

/* Where the last record begins of a range, of which @before is after that, and where the range's end comes next. */
std::uint64_t Pool::last_record(const Range &range, std::uint64_t before) const
{
    std::uint64_t at = range.begin;
    while (before - at > 1) {
        const std::uint64_t middle = at + (before - at) / 2;
        (border_(middle) < range.end ? at : before) = middle;
    }
    return std::max(range.begin, border_(at));
}

/* Where a part begins that is to have @bytes up to the range's end. */
std::uint64_t Pool::cut_before(const Range &range, std::uint64_t bytes) const
{
    if (bytes >= range.size())
        return range.begin;
    std::uint64_t wanted = range.end - std::max<std::uint64_t>(bytes, 1);
    if (grid_)
        wanted = std::min((wanted + grid_ - 1) / grid_, (range.end - 1) / grid_) * grid_;
    while (wanted > range.begin && border_(wanted) >= range.end) {
        if (!grid_)
            return last_record(range, wanted);
        wanted = wanted < grid_ ? 0 : wanted - grid_;
    }
    const std::uint64_t begin = wanted > range.begin ? border_(wanted) : range.begin;
    return grid_ || begin - range.begin >= bytes / small_rest ? begin : range.begin;
}

Range Pool::cut(const Range &range, std::uint64_t bytes, From from) const
{
    if (from == From::front)
        return {range.begin, cut_after(range, bytes)};
    return {cut_before(range, bytes), range.end};
}

std::optional<Range> Pool::take(unsigned who, std::uint64_t bytes, From from, std::uint64_t most)
{
    const auto found = ranges_.find(who);
    if (found == ranges_.end() || found->second.empty())
        return std::nullopt;
    Ranges &ranges = found->second;
    const auto place = from == From::front ? ranges.begin() : std::prev(ranges.end());
    const Range whole{place->first, place->second};

    std::uint64_t wanted = std::min(bytes, most);
    Range part = cut(whole, wanted, from);
    while (part.size() > most && wanted > 1) {
        wanted /= 2;
        part = cut(whole, wanted, from);
    }
    ranges.erase(place);
    if (part.begin > whole.begin)
        ranges.emplace(whole.begin, part.begin);
    if (part.end < whole.end)
        ranges.emplace(part.end, whole.end);
    bytes_of_[who] -= part.size();
    bytes_ -= part.size();
    return part;
}

} // namespace ptsched::spmd::schedule
