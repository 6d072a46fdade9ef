/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_DEVICE_REQUESTER_HPP
#define PTSCHED_DEVICE_REQUESTER_HPP

#include <memory>

namespace ptsched::device {

struct Requester;

} // namespace ptsched::device

#pragma GCC visibility push(default)

namespace ptsched::device {

/* A process for which this one works; null stands for this one itself. */
using RequesterPtr = std::shared_ptr<const Requester>;

/* Of a pidfd, which stays the caller's. Throws Error if it is none. */
RequesterPtr requester_of_pidfd(int pidfd);
/* Of the process at the other end of a Unix socket; null if that is this one, or nobody can tell. */
RequesterPtr requester_of_peer(int socket) noexcept;
/* False for null. */
bool is_alive(const RequesterPtr &requester);
/* Whether both are the same process, which is alive. */
bool is_same(const RequesterPtr &a, const RequesterPtr &b);

} // namespace ptsched::device

#pragma GCC visibility pop

#endif /* PTSCHED_DEVICE_REQUESTER_HPP */
