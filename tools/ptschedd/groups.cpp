// SPDX-License-Identifier: MIT
#include "tools/ptschedd/groups.hpp"

#include <algorithm>
#include <cerrno>

namespace ptsched {

static_assert(PTSP_GANG_MAX == PTSCHED_GROUP_MAX);

void Groups::forget_empty()
{
    for (auto entry = groups_.begin(); entry != groups_.end();) {
        auto group = entry++;
        if (group->second.nr_members)
            continue;
        std::erase(leading_, &group->second);
        groups_.erase(group);
    }
}

int Groups::set(Entity &entity, const std::string &name)
{
    forget_empty();
    if (name.empty()) {
        entity.rank = nullptr;
        return 0;
    }
    auto found = groups_.try_emplace({entity.process->uid(), name}).first;
    Group &group = found->second;
    if (entity.rank && &entity.rank->group == &group)
        return 0;
    leading_.reserve(groups_.size());
    auto rank = std::make_unique<Rank>(entity, group, found->first.second);
    if (!ptsp_gang_join(&group, rank.get(), &entity.device.front()))
        return -ENOSPC;
    entity.rank = std::move(rank);
    return 0;
}

void Groups::try_to_lead(Rank &rank, std::uint64_t now)
{
    const Entity &entity = rank.entity;
    if (ptsp_gang_lead(&rank, entity.granted_ns + ptsp_slice(&entity.device.policy()), now) &&
        std::find(leading_.begin(), leading_.end(), &rank.group) == leading_.end())
        leading_.push_back(&rank.group);
}

void Groups::granted(const Entity &entity)
{
    if (entity.rank && entity.device.policy().nr_active > 1)
        try_to_lead(*entity.rank, entity.granted_ns);
}

void Groups::again(Device &device)
{
    Rank &rank = *static_cast<Rank *>(device.front().refused);
    if (rank.entity.state == PTSP_HOLDING)
        try_to_lead(rank, monotonic_ns());
    else
        device.front().refused = nullptr;
}

void Groups::lead()
{
    while (!leading_.empty()) {
        Group &group = *leading_.back();
        leading_.pop_back();
        for (ptsp_member *member = ptsp_gang_first(&group); member; member = ptsp_gang_next(member)) {
            Entity &entity = static_cast<Rank *>(member)->entity;
            entity.device.lead(entity, group.until_ns);
        }
    }
}

} // namespace ptsched
