/* SPDX-License-Identifier: MIT */
/* For whom a graph works. */
#ifndef PTSCHED_PTASK_DEVICES_REQUESTER_HPP
#define PTSCHED_PTASK_DEVICES_REQUESTER_HPP

#include <ptsched/device/requester.hpp>

namespace ptsched::ptask {

using device::is_alive;
using device::is_same;
using device::Requester;
using device::requester_of_peer;
using device::requester_of_pidfd;
using device::RequesterPtr;

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_DEVICES_REQUESTER_HPP */
