/* SPDX-License-Identifier: MIT */
/* Devices, users and processes in the text format of OpenMetrics 1.0, which Prometheus reads. */
#ifndef PTSCHED_TOOL_OPENMETRICS_HPP
#define PTSCHED_TOOL_OPENMETRICS_HPP

#include "scheduler.hpp"

#include <string>
#include <vector>

namespace ptsched {

std::string openmetrics(const std::vector<Device> &devices, const std::vector<Entity> &entities);

} // namespace ptsched

#endif /* PTSCHED_TOOL_OPENMETRICS_HPP */
