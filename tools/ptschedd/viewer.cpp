// SPDX-License-Identifier: MIT
#include "viewer.hpp"

#include <sys/socket.h>
#include <unistd.h>

namespace ptsched {
namespace {

uid_t uid_of_peer(int socket)
{
    ucred peer;
    socklen_t length = sizeof(peer);
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? peer.uid : static_cast<uid_t>(-1);
}

} // namespace

Viewer::Viewer(int socket, ProcessRef process)
    : process_(std::move(process)), uid_(uid_of_peer(socket)), privileged_(uid_ == 0 || uid_ == geteuid())
{
}

pid_t Viewer::pid_of(const Process &target) const
{
    return sees_user(target.owner()) ? target.pid_for(*process_) : 0;
}

} // namespace ptsched
