/* SPDX-License-Identifier: MIT */
/* File descriptors that go with a message over a Unix socket. */
#ifndef PTSCHED_BASE_PASSED_FDS_HPP
#define PTSCHED_BASE_PASSED_FDS_HPP

#include <ptsched/base/fd.hpp>

#include <cstddef>
#include <cstring>
#include <sys/socket.h>
#include <vector>

namespace ptsched {

/* Room in a message for that many; it must live until the message has been sent or received. */
template <std::size_t most, std::size_t other_bytes = 0> class PassedFds {
public:
    PassedFds() = default;
    PassedFds(const PassedFds &) = delete;
    PassedFds &operator=(const PassedFds &) = delete;

    /* For what is received: more than fit the kernel closes. */
    void make_room(msghdr &message)
    {
        message.msg_control = control_;
        message.msg_controllen = sizeof(control_);
    }
    /* They stay the caller's. With none, the message is left as it is. */
    void put(msghdr &message, const int *fds, std::size_t count)
    {
        if (!count)
            return;
        const std::size_t bytes = count * sizeof(int);
        message.msg_control = control_;
        message.msg_controllen = CMSG_SPACE(bytes);
        cmsghdr *part = CMSG_FIRSTHDR(&message);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(bytes);
        memcpy(CMSG_DATA(part), fds, bytes);
    }
    /* One, or none if it is negative. */
    void put(msghdr &message, int fd) { put(message, &fd, fd >= 0); }

private:
    alignas(cmsghdr) char control_[CMSG_SPACE(most * sizeof(int)) + other_bytes] = {};
};

/*
 * Those of a message that was received, in their order; nobody else closes them. One for which there is no room above
 * the standard streams is none.
 */
inline std::vector<UniqueFd> take_fds(msghdr &message)
{
    std::vector<UniqueFd> taken;
    for (cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
            continue;
        for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= part->cmsg_len; at += sizeof(int)) {
            int fd;
            memcpy(&fd, reinterpret_cast<char *>(part) + at, sizeof(fd));
            taken.push_back(above_streams(fd));
        }
    }
    return taken;
}

} // namespace ptsched

#endif
