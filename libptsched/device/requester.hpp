/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_DEVICE_INSIDE_REQUESTER_HPP
#define PTSCHED_DEVICE_INSIDE_REQUESTER_HPP

#include <ptsched/base/fd.hpp>
#include <ptsched/device/requester.hpp>

#include <sys/types.h>

namespace ptsched::device {

/* What the insides know of a process for which this one works. */
struct Requester {
    pid_t pid;
    UniqueFd pidfd;
};

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_INSIDE_REQUESTER_HPP */
