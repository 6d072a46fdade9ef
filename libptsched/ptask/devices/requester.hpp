/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PTASK_DEVICES_REQUESTER_HPP
#define PTSCHED_PTASK_DEVICES_REQUESTER_HPP

#include <ptsched/base/fd.hpp>

#include <memory>
#include <sys/types.h>

namespace ptsched::ptask {

/* A process for which a graph works; null stands for the graph's own. */
struct Requester {
    pid_t pid;
    UniqueFd pidfd;
};
using RequesterPtr = std::shared_ptr<const Requester>;

/* Of a pidfd, which stays the caller's. Throws Error if it is none. */
RequesterPtr requester_of_pidfd(int pidfd);
/* Of the process at the other end of a Unix socket; null if that is this one, or nobody can tell. */
RequesterPtr requester_of_peer(int socket) noexcept;
/* False for null. */
bool is_alive(const RequesterPtr &requester);
/* Whether both are the same process, which is alive. */
bool is_same(const RequesterPtr &a, const RequesterPtr &b);

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_DEVICES_REQUESTER_HPP */
