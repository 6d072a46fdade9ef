// SPDX-License-Identifier: MIT
/*
 * Cgroups that do not depend on the machine, in place of tools/ptsched/cgroups.cpp: those with an even number are
 * there.
 */
#include "tools/ptsched/cgroups.hpp"

namespace ptsched {

UniqueFd open_cgroup(const std::string &)
{
    return UniqueFd(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

std::uint32_t cpu_weight(const UniqueFd &, const std::string &)
{
    return 100;
}

void CgroupPaths::find(std::set<std::uint64_t> ids)
{
    for (std::uint64_t id : ids)
        paths_[id] = id % 2 ? "" : "/" + std::to_string(id / 16) + "/" + std::to_string(id);
}

std::string CgroupPaths::of(std::uint64_t id) const
{
    auto found = paths_.find(id);
    return found == paths_.end() ? std::string() : found->second;
}

} // namespace ptsched
