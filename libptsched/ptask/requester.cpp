// SPDX-License-Identifier: MIT
#include "requester.hpp"

#include "pidfd.hpp"
#include "worker.hpp"

#include "device.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>

namespace ptsched::ptask {

namespace {

/* What the descriptor's file says; 0 if it is no pidfd or of no process that this one sees. */
pid_t pid_of(int pidfd)
{
    char path[64], line[128];
    int pid = 0;
    std::snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
    std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen(path, "re"), std::fclose);
    while (file && std::fgets(line, sizeof(line), file.get()))
        if (std::sscanf(line, "Pid: %d", &pid) == 1)
            return std::max(pid, 0);
    return 0;
}

} // namespace

RequesterPtr requester_of_pidfd(int pidfd)
{
    pid_t pid = pid_of(pidfd);
    if (!pid)
        throw device::Error("descriptor " + std::to_string(pidfd) + " is no pidfd of a process that is alive");
    UniqueFd copy(fcntl(pidfd, F_DUPFD_CLOEXEC, 0));
    if (!copy)
        throw device::Error(system_error_text("pidfd"));
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

bool is_same(const RequesterPtr &a, const RequesterPtr &b)
{
    if (!a || !b)
        return a == b;
    return a->pid == b->pid && (a == b || (!has_exited(a->pidfd.get()) && !has_exited(b->pidfd.get())));
}

} // namespace ptsched::ptask
