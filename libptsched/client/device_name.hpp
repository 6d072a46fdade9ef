// SPDX-License-Identifier: MIT
// What the NVIDIA driver tells about names of devices.
#ifndef PTSCHED_CLIENT_DEVICE_NAME_HPP
#define PTSCHED_CLIENT_DEVICE_NAME_HPP

#include <string>

namespace ptsched {

// From /proc/driver/nvidia/gpus/ADDRESS/information; empty: not known. Capitals or not are the same.
std::string uuid_of_address(const std::string &address);
std::string address_of_uuid(const std::string &uuid);

} // namespace ptsched

#endif
