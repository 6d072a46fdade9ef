// SPDX-License-Identifier: MIT
#include "libptsched/spmd/schedule/group.hpp"

#include <algorithm>

namespace ptsched::spmd::schedule {

void Group::take(const Partition &partition, std::uint64_t to_come)
{
    members_.expect(std::min(planned_bytes_, members_.input_bytes() + partition.range.size() + to_come));
    if (partition.range.empty())
        return;
    members_.add(partition.range);
    taken_[partition.range.begin] = {partition, partition.range.size()};
    last_bytes_ = partition.range.size();
}

/* What members have may be parts of several, where these are neighbours: each of them, and how many of its bytes. */
template <typename Each> void Group::each_in(const Range &range, Each each)
{
    for (auto at = std::prev(taken_.upper_bound(range.begin)); at != taken_.end() && at->first < range.end; ++at) {
        const Range &whole = at->second.partition.range;
        const std::uint64_t begin = std::max(range.begin, whole.begin), end = std::min(range.end, whole.end);
        if (begin < end)
            each(at->second, end - begin);
    }
}

bool Group::done(unsigned member, std::uint64_t id, double now)
{
    if (!members_.is_needed(member, id))
        return false;
    const Range range = members_.range(id);
    members_.done(member, id, now);
    each_in(range, [&](Taken &taken, std::uint64_t bytes) {
        taken.left -= bytes;
        if (taken.left || taken.told)
            return;
        taken.told = true;
        done_.push_back(taken.partition.id);
    });
    return true;
}

void Group::fail(unsigned member, bool results_are_lost)
{
    if (results_are_lost && !members_.failed(member))
        for (const Home &home : members_.homes())
            if (home.who == member)
                each_in(home.range, [](Taken &taken, std::uint64_t bytes) { taken.left += bytes; });
    members_.fail(member, results_are_lost);
}

std::optional<std::uint64_t> Group::take_done()
{
    if (done_.empty())
        return std::nullopt;
    const std::uint64_t id = done_.front();
    done_.pop_front();
    return id;
}

} // namespace ptsched::spmd::schedule
