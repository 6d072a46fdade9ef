// SPDX-License-Identifier: MIT
#include "tools/ptschedd/cgroup_tree.hpp"

#include <algorithm>

namespace ptsched {

static_assert(PTSCHED_CGROUP_DEPTH <= PTSP_DEPTH);

/* With those above it, from the outermost on. */
Cgroup *CgroupTree::get(const CgroupPath &path, std::uint64_t now)
{
    Cgroup *parent = nullptr;
    for (std::uint64_t number : path) {
        auto [entry, made] = cgroups_.try_emplace(number);
        Cgroup &cgroup = entry->second;
        if (made) {
            cgroup.number = number;
            cgroup.parent = parent;
            ptsp_group_init(&policy_, &cgroup.group, parent ? &parent->group : nullptr,
                            ptsp_share_to_weight(cgroup.share), now);
            cgroup.account.group = &cgroup.group;
            if (parent)
                parent->children++;
        }
        parent = &cgroup;
    }
    return parent;
}

void CgroupTree::follow(Entity &entity, std::uint64_t now)
{
    if (policy_.params.grouping != PTSP_BY_CGROUP) {
        entity.cgroup.change(nullptr);
        entity.cgroup_name.clear();
        return;
    }
    /*
     * It may have been elsewhere meanwhile, and come back to one that was made anew: that is found when it moves next.
     */
    auto name = entity.process->cgroup();
    if (!name || *name == entity.cgroup_name)
        return;
    entity.cgroup.change(get(path_of_cgroup(*name), now));
    entity.cgroup_name = std::move(*name);
}

void CgroupTree::set_share(const CgroupPath &path, std::uint32_t share, std::shared_ptr<const UniqueFd> directory,
                           std::uint64_t now)
{
    forget(now);
    Cgroup &cgroup = *get(path, now);
    cgroup.share = share;
    cgroup.directory = share == PTSCHED_SHARE_DEFAULT ? nullptr : std::move(directory);
    ptsp_group_set_weight(&policy_, &cgroup.group, ptsp_share_to_weight(share), now);
}

bool CgroupTree::is_used(const Cgroup &cgroup, std::uint64_t now) const
{
    return cgroup.entities || cgroup.children || ptsp_user_owes(&policy_, &cgroup.account, now) ||
           (cgroup.directory && !cgroup_is_gone(cgroup.directory->get()));
}

/* There may be many that have a share and nobody in them, which whoever may have made. */
void CgroupTree::forget(std::uint64_t now)
{
    for (std::size_t left = std::min<std::size_t>(cgroups_.size(), PTSP_AT_ONCE); left && !cgroups_.empty(); left--) {
        auto next = cgroups_.upper_bound(looked_at_);
        if (next == cgroups_.end())
            next = cgroups_.begin();
        looked_at_ = next->first;
        for (Cgroup *cgroup = &next->second; cgroup && !is_used(*cgroup, now);) {
            Cgroup *parent = cgroup->parent;
            cgroups_.erase(cgroup->number);
            if (parent)
                parent->children--;
            cgroup = parent;
        }
    }
}

} // namespace ptsched
