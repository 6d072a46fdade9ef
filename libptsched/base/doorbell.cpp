// SPDX-License-Identifier: MIT
#include "libptsched/base/doorbell.hpp"

#include <sys/socket.h>

namespace ptsched {

bool Doorbell::open()
{
    Guard lock(mutex_);
    if (outside_.is_ours() && inside_.is_ours())
        return true;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) < 0)
        return false;
    UniqueFd first = above_streams(ends[0]), second = above_streams(ends[1]);
    outside_ = KeptFd(std::move(first));
    inside_ = KeptFd(std::move(second));
    return outside_ && inside_;
}

int Doorbell::fd() const
{
    return inside_.is_ours() ? inside_.get() : -1;
}

void Doorbell::ring()
{
    Guard lock(mutex_);
    /* What does not fit is not needed: there is something to read. */
    if (outside_.is_ours())
        send(outside_.get(), "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Doorbell::answer()
{
    char rings[64];
    while (inside_.is_ours() && recv(inside_.get(), rings, sizeof(rings), MSG_DONTWAIT) == sizeof(rings))
        continue;
}

void Doorbell::close_inherited()
{
    outside_.reset();
    inside_.reset();
}

} // namespace ptsched
