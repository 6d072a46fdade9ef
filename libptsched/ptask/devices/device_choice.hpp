/* SPDX-License-Identifier: MIT */
/* Which devices a graph's kernels may use: see GraphOptions::devices. */
#ifndef PTSCHED_PTASK_DEVICES_DEVICE_CHOICE_HPP
#define PTSCHED_PTASK_DEVICES_DEVICE_CHOICE_HPP

#include <ptsched/device/device.hpp>

namespace ptsched::ptask {

/*
 * Those of the list that are named, in the order of the list: all of them if there are no names at all. Throws Error,
 * with what there is, for a name of none of them, or if none is named.
 */
std::vector<device::Device *> chosen_gpus(const std::vector<device::Device *> &gpus,
                                          const std::vector<std::string> &names);
std::vector<device::Device *> chosen_opencl(const std::vector<device::Device *> &devices,
                                            const std::vector<std::string> &names);

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_DEVICES_DEVICE_CHOICE_HPP */
