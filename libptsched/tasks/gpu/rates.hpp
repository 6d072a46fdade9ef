/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_TASKS_GPU_RATES_HPP
#define PTSCHED_TASKS_GPU_RATES_HPP

#include <ptsched/device/device.hpp>

#include <vector>

namespace ptsched::tasks {

/* Of copies, in bytes a second. */
struct Rates {
    std::vector<double> from_host; /* to each device */
    std::vector<double> between;   /* from each to each, those from the first before those from the second */
};

/* If there are several; nobody asks for one device's. */
Rates measure_rates(const std::vector<device::Device *> &devices);

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_GPU_RATES_HPP */
