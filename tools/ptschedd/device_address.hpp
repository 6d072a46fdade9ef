/* SPDX-License-Identifier: MIT */
/* Names of devices, and which there are. */
#ifndef PTSCHEDD_DEVICE_ADDRESS_HPP
#define PTSCHEDD_DEVICE_ADDRESS_HPP

#include <cstdint>
#include <string>
#include <vector>

namespace ptsched {

struct DeviceName {
    std::string address;
    std::string uuid;
    std::uint64_t node = 0; /* see Device::node() */
};

/*
 * "0000:17:00.0"; four to eight digits of domain in either case are accepted.
 * Empty: not a PCI address.
 */
std::string canonical_address(const std::string &name);
/* Of a GPU, or of an instance of one that MIG divides. */
bool is_uuid(const std::string &name);
bool is_instance(const std::string &name);

/* PCI display and 3D controllers; with their nodes, as far as the driver tells. */
std::vector<DeviceName> find_devices(bool with_nodes);
std::vector<DeviceName> test_devices(unsigned count);

} // namespace ptsched

#endif
