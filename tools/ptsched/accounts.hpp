/* SPDX-License-Identifier: MIT */
/* Users and cgroups as they are shown. */
#ifndef PTSCHED_TOOL_ACCOUNTS_HPP
#define PTSCHED_TOOL_ACCOUNTS_HPP

#include "tools/ptsched/cgroups.hpp"
#include "tools/ptsched/scheduler.hpp"

#include <string>
#include <vector>

namespace ptsched {

/* Users by name, then cgroups, each before those that are in it, whose paths are in @paths from then on. */
void sort_accounts(std::vector<Account> &accounts, CgroupPaths &paths);

/* The cgroup's path; "cgroup:ID" if its directory is not there any more. */
std::string cgroup_name(std::uint64_t id, const CgroupPaths &paths);

/* The header, then a line for each. @gpu is, for each, GPU time over wall time; empty: there is no such column. */
std::vector<std::string> accounts_table(const std::vector<Account> &accounts, const CgroupPaths &paths,
                                        const std::vector<double> &gpu = {});

/* In place of the table where the scheduler does not know of accounts. */
inline constexpr const char *no_accounts = "the scheduler has no accounts of users and cgroups";

} // namespace ptsched

#endif /* PTSCHED_TOOL_ACCOUNTS_HPP */
