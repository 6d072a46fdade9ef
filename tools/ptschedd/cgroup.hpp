/* SPDX-License-Identifier: MIT */
/* What the kernel says of cgroups (v2). */
#ifndef PTSCHEDD_CGROUP_HPP
#define PTSCHEDD_CGROUP_HPP

#include <ptsched/base/fd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace ptsched {

/* The number of a cgroup, behind those of the cgroups that it is in, from below the root on; empty: the root. */
using CgroupPath = std::vector<std::uint64_t>;

/* Whether the broker can see any. */
bool has_cgroups();

/* A file that tells which one a process is in; it is never another process's, whoever has the number later. */
UniqueFd open_cgroup_file(pid_t pid);
/* The name that such a file tells, "/" for the root or where there are none; nothing: the process is gone. */
std::optional<std::string> read_cgroup_name(int file);
/* No deeper than PTSCHED_CGROUP_DEPTH, and no deeper than the broker can see. */
CgroupPath path_of_cgroup(const std::string &name);

struct FoundCgroup {
    CgroupPath path;
    struct stat above; /* the directory that its own is in */
};

/* The one whose directory @fd is open on. Nothing: @fault says why. */
std::optional<FoundCgroup> find_cgroup(int fd, std::string &fault);
/* Whether the cgroup of this directory has been removed. */
bool cgroup_is_gone(int fd);

} // namespace ptsched

#endif
