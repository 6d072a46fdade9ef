/* SPDX-License-Identifier: MIT */
/* Control groups, version 2, each of which is a directory whose inode is its number. */
#ifndef PTSCHED_TOOL_CGROUPS_HPP
#define PTSCHED_TOOL_CGROUPS_HPP

#include <ptsched/base/fd.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace ptsched {

/* The directory @path or, as /proc/PID/cgroup has it, @path below where cgroup2 is mounted. Throws if there is none. */
UniqueFd open_cgroup(const std::string &path);
/* What its file cpu.weight says. Throws, with the name @path, if there is none. */
std::uint32_t cpu_weight(const UniqueFd &cgroup, const std::string &path);

/* Paths of cgroups, as /proc/PID/cgroup has them. */
class CgroupPaths {
public:
    /* Looks for those of them for which it has not looked before, in one walk. */
    void find(std::set<std::uint64_t> ids);
    /* Of one that was looked for; empty: its directory was not found. */
    std::string of(std::uint64_t id) const;

private:
    std::map<std::uint64_t, std::string> paths_;
};

} // namespace ptsched

#endif /* PTSCHED_TOOL_CGROUPS_HPP */
