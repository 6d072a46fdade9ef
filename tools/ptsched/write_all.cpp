// SPDX-License-Identifier: MIT
#include "tools/ptsched/write_all.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <poll.h>
#include <unistd.h>

namespace ptsched {

namespace {

/* 0: it can be written to, or is to be asked. */
int wait_for_reader(int fd, int stop)
{
    pollfd fds[] = {{.fd = fd, .events = POLLOUT, .revents = 0}, {.fd = stop, .events = POLLIN, .revents = 0}};
    if (poll(fds, 2, -1) < 0)
        return errno == EINTR ? 0 : errno;
    return !fds[0].revents && fds[1].revents ? ECANCELED : 0;
}

} // namespace

int write_all(int fd, std::string_view text, int stop)
{
    while (!text.empty()) {
        if (int error = wait_for_reader(fd, stop))
            return error;
        /* So much goes into a pipe that can be written to, without waiting. */
        ssize_t written = write(fd, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
        if (written >= 0)
            text.remove_prefix(static_cast<std::size_t>(written));
        else if (errno != EINTR && errno != EAGAIN)
            return errno;
    }
    return 0;
}

} // namespace ptsched
