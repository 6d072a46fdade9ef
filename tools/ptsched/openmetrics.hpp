/* SPDX-License-Identifier: MIT */
/* Devices, users, cgroups and processes in the text format of OpenMetrics 1.0, which Prometheus reads. */
#ifndef PTSCHED_TOOL_OPENMETRICS_HPP
#define PTSCHED_TOOL_OPENMETRICS_HPP

#include "tools/ptsched/cgroups.hpp"
#include "tools/ptsched/scheduler.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ptsched {

/* @paths has those of all cgroups. */
std::string openmetrics(const std::vector<Device> &devices, const std::vector<Entity> &entities,
                        const std::optional<std::vector<Account>> &accounts, const CgroupPaths &paths);

} // namespace ptsched

#endif /* PTSCHED_TOOL_OPENMETRICS_HPP */
