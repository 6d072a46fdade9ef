// SPDX-License-Identifier: MIT
#include "libptsched/ptask/ipc/packet.hpp"

#include "libptsched/base/passed_fds.hpp"
#include "libptsched/base/worker.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace ptsched::ptask {

namespace {

constexpr std::uint32_t magic = 0x70746b32;
constexpr std::size_t longest_text = 4096;

} // namespace

bool send_packet(int socket, const Packet &packet)
{
    Packet::Head head = packet.head;
    head.magic = magic;
    std::array<iovec, 2> parts = {
        {{&head, sizeof(head)}, {const_cast<char *>(packet.text.data()), std::min(packet.text.size(), longest_text)}}};
    msghdr message = {};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    PassedFds<1> passed;
    passed.put(message, packet.memory.get());
    if (sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
        return true;
    if (errno == EAGAIN || errno == EINTR)
        return false;
    throw Error(system_error_text("the other process cannot be reached"));
}

std::optional<Packet> receive_packet(int socket)
{
    Packet packet;
    packet.text.resize(longest_text);
    std::array<iovec, 2> parts = {{{&packet.head, sizeof(packet.head)}, {packet.text.data(), longest_text}}};
    msghdr message = {};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    PassedFds<1> passed;
    passed.make_room(message);
    /* It stays where it is until what comes with it is here, too. */
    ssize_t got = recvmsg(socket, &message, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return {};
    if (got < 0 && errno == ECONNRESET)
        throw Reset(system_error_text("the other process is gone"));
    if (got < 0)
        throw Error(system_error_text("the other process cannot be reached"));
    /* Of more than one the rest is closed; what is no memory is found out later. */
    if (auto fds = take_fds(message); !fds.empty())
        packet.memory = std::move(fds.front());
    else if (message.msg_flags & MSG_CTRUNC)
        throw NoDescriptor("there is no descriptor left for the memory of a datablock from another process");
    if (got == 0)
        throw Error("the other process has closed the connection");
    recv(socket, nullptr, 0, MSG_DONTWAIT);
    if (static_cast<std::size_t>(got) < sizeof(packet.head) || (message.msg_flags & MSG_TRUNC) ||
        packet.head.magic != magic)
        throw Error("what came from the other process is no packet of a graph");
    packet.text.resize(static_cast<std::size_t>(got) - sizeof(packet.head));
    return packet;
}

UniqueFd socket_at(const std::string &path, bool listening)
{
    UniqueFd made = above_streams(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof(address.sun_path))
        throw Error("the path of a socket has 1 to " + std::to_string(sizeof(address.sun_path) - 1) +
                    " characters, not " + std::to_string(path.size()));
    path.copy(address.sun_path, path.size());
    auto *generic = reinterpret_cast<sockaddr *>(&address);
    if (!made)
        throw Error(system_error_text("socket"));
    if (!listening) {
        if (connect(made.get(), generic, sizeof(address)) == 0)
            return made;
        if (errno == EAGAIN)
            return {};
        throw Error(system_error_text("no graph is served at " + path));
    }
    const std::string problem = "a graph cannot be served at " + path;
    if (bind(made.get(), generic, sizeof(address)) < 0) {
        const bool in_use = errno == EADDRINUSE;
        const std::string text = system_error_text(problem);
        std::error_code ignored;
        if (in_use && !std::filesystem::is_socket(path, ignored))
            throw Error(text + ": by something that is no socket");
        /* A socket of a process that has ended stays behind. */
        if (in_use && connect(made.get(), generic, sizeof(address)) < 0 && errno == ECONNREFUSED)
            throw Error(text + ": a socket that nobody serves any more, which can be removed");
        throw Error(text);
    }
    /* Nobody but its owner gets in, and nobody before this is so. */
    if (chmod(path.c_str(), 0600) < 0 || listen(made.get(), 64) < 0) {
        const std::string text = system_error_text(problem);
        unlink(path.c_str());
        throw Error(text);
    }
    return made;
}

} // namespace ptsched::ptask
