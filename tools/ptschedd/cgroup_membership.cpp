// SPDX-License-Identifier: MIT
#include "tools/ptschedd/cgroup_membership.hpp"

namespace ptsched {

void CgroupMembership::change(Cgroup *cgroup)
{
    for (Cgroup *left = cgroup_; left; left = left->parent)
        left->entities--;
    cgroup_ = cgroup;
    for (Cgroup *entered = cgroup_; entered; entered = entered->parent)
        entered->entities++;
}

void CgroupMembership::charge(std::uint64_t gpu_ns) const
{
    for (Cgroup *cgroup = cgroup_; cgroup; cgroup = cgroup->parent)
        cgroup->gpu_ns += gpu_ns;
}

} // namespace ptsched
