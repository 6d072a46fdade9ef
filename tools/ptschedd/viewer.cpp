// SPDX-License-Identifier: MIT
#include "tools/ptschedd/viewer.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/socket.h>
#include <unistd.h>

namespace ptsched {
namespace {

ucred peer_of(int socket)
{
    ucred peer;
    socklen_t length = sizeof(peer);
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
        peer = {.pid = 0, .uid = static_cast<uid_t>(-1), .gid = static_cast<gid_t>(-1)};
    return peer;
}

} // namespace

Viewer::Viewer(int socket, ProcessRef process)
    : socket_(socket), process_(std::move(process)), uid_(peer_of(socket).uid),
      privileged_(uid_ == 0 || uid_ == geteuid())
{
}

/* All that it was in when it opened the socket. */
std::vector<gid_t> Viewer::groups() const
{
    std::vector<gid_t> groups(64);
    for (;;) {
        auto length = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
        const int ret = getsockopt(socket_, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &length);
        const bool more = ret < 0 && errno == ERANGE && length > groups.size() * sizeof(gid_t);
        groups.resize(ret < 0 && !more ? 0 : length / sizeof(gid_t));
        if (!more)
            break;
    }
    groups.push_back(peer_of(socket_).gid);
    return groups;
}

bool Viewer::may_write(const struct stat &directory) const
{
    constexpr mode_t needed = S_IWOTH | S_IXOTH;
    auto allows = [&](unsigned shift) { return (directory.st_mode >> shift & needed) == needed; };
    if (directory.st_uid == uid_)
        return allows(6);
    const std::vector<gid_t> its = groups();
    return allows(std::find(its.begin(), its.end(), directory.st_gid) != its.end() ? 3 : 0);
}

pid_t Viewer::pid_of(const Process &target) const
{
    return sees_user(target.owner()) ? target.pid_for(*process_) : 0;
}

} // namespace ptsched
