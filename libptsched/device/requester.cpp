// SPDX-License-Identifier: MIT
#include "libptsched/device/requester.hpp"

#include "libptsched/base/pidfd.hpp"
#include <ptsched/base/error.hpp>

#include <cstring>
#include <fcntl.h>

namespace ptsched::device {

RequesterPtr requester_of_pidfd(int pidfd)
{
    const pid_t pid = pid_of(pidfd).value_or(0);
    if (pid <= 0)
        throw Error("descriptor " + std::to_string(pidfd) + " is no pidfd of a process that is alive");
    UniqueFd copy(fcntl(pidfd, F_DUPFD_CLOEXEC, 0));
    if (!copy)
        throw Error(std::string("pidfd: ") + std::strerror(errno));
    return std::make_shared<const Requester>(Requester{pid, std::move(copy)});
}

RequesterPtr requester_of_peer(int socket) noexcept
{
    ucred peer;
    socklen_t length = sizeof(peer);
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0 || peer.pid <= 0 || peer.pid == getpid())
        return nullptr;
    try {
        UniqueFd pidfd = open_pidfd_of_peer(socket, peer);
        return pidfd ? std::make_shared<const Requester>(Requester{peer.pid, std::move(pidfd)}) : nullptr;
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

bool is_alive(const RequesterPtr &requester)
{
    return requester && !has_exited(requester->pidfd.get());
}

bool is_same(const RequesterPtr &a, const RequesterPtr &b)
{
    if (!a || !b)
        return a == b;
    return a->pid == b->pid && (a == b || (is_alive(a) && is_alive(b)));
}

} // namespace ptsched::device
