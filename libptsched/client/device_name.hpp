/* SPDX-License-Identifier: MIT */
/* What the NVIDIA driver tells about names of devices. */
#ifndef PTSCHED_CLIENT_DEVICE_NAME_HPP
#define PTSCHED_CLIENT_DEVICE_NAME_HPP

#include <optional>
#include <string>

namespace ptsched {

/* From /proc/driver/nvidia/gpus/ADDRESS/information; empty: not known. Capitals or not are the same. */
std::string uuid_of_address(const std::string &address);
std::string address_of_uuid(const std::string &uuid);

/* The device's node is /dev/nvidia and that number. */
std::optional<unsigned> minor_of_address(const std::string &address);
/* The major number of all of them. */
constexpr unsigned kNvidiaMajor = 195;

} // namespace ptsched

#endif
