/* SPDX-License-Identifier: MIT */
/* What tools see and set: the generic netlink family's messages. */
#ifndef PTSCHEDD_CONTROL_HPP
#define PTSCHEDD_CONTROL_HPP

#include "tools/ptschedd/attributes.hpp"
#include "tools/ptschedd/device.hpp"
#include "tools/ptschedd/viewer.hpp"

#include <functional>

namespace ptsched {

using DeviceList = std::vector<std::unique_ptr<Device>>;

/* The outcome of a request, and what is wrong with it. */
struct Verdict {
    int error = 0; /* negative errno */
    std::uint16_t attribute = 0;
    std::string text;
};

/* Whose request it is. */
struct Requester {
    const Viewer &viewer;
    bool sends_itself; /* who opened the socket has written to it */
    bool privileged;
    UniqueFd fd = {}; /* that came with it */
};

/* Carries out one request; each message of a dump goes to @emit. */
Verdict control(DeviceList &devices, std::span<const char> request, Requester requester,
                const std::function<void(std::span<const char>)> &emit);

/* @pid: the number of the entity's process, where there is an entity. */
AttributeWriter describe_event(std::uint32_t kind, const Device &device, const Entity *entity, pid_t pid);

/* "slice: 100000 to 1000000000 ns"; empty for PTSP_PARAM_OK. */
std::string range_of(ptsp_param param);

} // namespace ptsched

#endif
