// SPDX-License-Identifier: MIT
#include "libptsched/client/broker_socket.hpp"

#include "libptsched/base/start_path.hpp"
#include "libptsched/client/broker_protocol.h"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

namespace ptsched {

int connect_to_broker(UniqueFd &socket, std::chrono::microseconds patience)
{
    const char *path = secure_getenv("PTSCHED_SOCKET");
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::string name = path ? start_path(path) : PTSCHED_BROKER_SOCKET;
    if (name.size() >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    name.copy(address.sun_path, name.size());

    UniqueFd made = above_streams(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!made)
        return -errno;
    /* It holds for connect(), too, which waits where more than a few thousand have not been taken. */
    const timeval limit{.tv_sec = patience.count() / 1000000, .tv_usec = patience.count() % 1000000};
    if (setsockopt(made.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0)
        return -errno;
    while (connect(made.get(), reinterpret_cast<sockaddr *>(&address), sizeof(address)) < 0) {
        if (errno == EINTR)
            continue;
        if (errno == EAGAIN)
            return -EHOSTDOWN;
        /* A socket file that nobody listens on, or a path that leads nowhere. */
        return errno == ECONNREFUSED || errno == ENOTDIR ? -ENOENT : -errno;
    }
    socket = std::move(made);
    return 0;
}

} // namespace ptsched
