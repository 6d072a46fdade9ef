/* SPDX-License-Identifier: MIT */
/* Processes named by descriptors, which no other process can come to stand for. */
#ifndef PTSCHED_BASE_PIDFD_HPP
#define PTSCHED_BASE_PIDFD_HPP

#include <ptsched/base/fd.hpp>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

namespace ptsched {

inline bool has_exited(int pidfd)
{
    pollfd poll_for{.fd = pidfd, .events = POLLIN, .revents = 0};
    return poll(&poll_for, 1, 0) > 0;
}

/*
 * The number of its process, as this one sees it: not positive if it is gone or not to be seen. None for what is no
 * pidfd.
 */
inline std::optional<pid_t> pid_of(int pidfd)
{
    char line[128];
    int pid;
    /* A program of whose process this is may fork and exec meanwhile. */
    std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(
        std::fopen(("/proc/self/fdinfo/" + std::to_string(pidfd)).c_str(), "re"), std::fclose);
    while (file && std::fgets(line, sizeof(line), file.get()))
        if (std::sscanf(line, "Pid: %d", &pid) == 1)
            return pid;
    return std::nullopt;
}

/* Of the process at the other end of a Unix socket, which is @peer. None and errno, if it is gone. */
inline UniqueFd open_pidfd_of_peer(int socket, const ucred &peer)
{
    int fd = -1;
    socklen_t length = sizeof(fd);
    if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &fd, &length) == 0)
        return above_streams(fd);
    /* Before Linux 6.5: the number may be another process's by now, but not another user's. */
    UniqueFd pidfd = above_streams(static_cast<int>(syscall(SYS_pidfd_open, peer.pid, 0)));
    struct stat status;
    if (pidfd && (stat(("/proc/" + std::to_string(peer.pid)).c_str(), &status) < 0 || status.st_uid != peer.uid)) {
        errno = ESRCH;
        pidfd.reset();
    }
    return pidfd;
}

} // namespace ptsched

#endif
