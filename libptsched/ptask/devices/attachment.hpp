/* SPDX-License-Identifier: MIT */
/* A graph on a device as a client of ptsched. Its thread never waits here: it is told no, and called when it may. */
#ifndef PTSCHED_PTASK_DEVICES_ATTACHMENT_HPP
#define PTSCHED_PTASK_DEVICES_ATTACHMENT_HPP

#include "libptsched/ptask/devices/requester.hpp"
#include <ptsched/device/turns.hpp>

namespace ptsched::ptask {

using Attachment = device::Turns;

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_DEVICES_ATTACHMENT_HPP */
