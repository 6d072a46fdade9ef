// SPDX-License-Identifier: MIT
#include "tests/fuzz/fake_netlink.hpp"

#include "tests/fuzz/scripted_broker.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/ptsched.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace {

using Bytes = std::vector<char>;

constexpr std::uint16_t kFamily = 0x20;
constexpr std::size_t kMostDatagrams = 16, kMostMessages = 8;

/* The script, and what is to be received before it. */
std::deque<Bytes> script, answers;
nlmsghdr asked;

bool is_netlink(int fd)
{
    int domain = 0;
    socklen_t size = sizeof(domain);
    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_NETLINK;
}

void put(Bytes &bytes, const void *data, std::size_t size)
{
    auto start = static_cast<const char *>(data);
    bytes.insert(bytes.end(), start, start + size);
    bytes.resize(NLA_ALIGN(bytes.size()));
}

void put_attribute(Bytes &bytes, std::uint16_t type, const void *data, std::size_t size)
{
    const nlattr head{static_cast<std::uint16_t>(NLA_HDRLEN + size), type};
    put(bytes, &head, sizeof(head));
    put(bytes, data, size);
}

Bytes message(std::uint16_t type, std::uint16_t flags, const Bytes &payload)
{
    nlmsghdr header{};
    header.nlmsg_len = static_cast<std::uint32_t>(NLMSG_HDRLEN + payload.size());
    header.nlmsg_type = type;
    header.nlmsg_flags = flags;
    Bytes bytes;
    put(bytes, &header, sizeof(header));
    put(bytes, payload.data(), payload.size());
    return bytes;
}

/* What the controller tells of the family. */
Bytes family()
{
    const genlmsghdr header{.cmd = CTRL_CMD_NEWFAMILY, .version = 2, .reserved = 0};
    const std::uint16_t id = kFamily;
    Bytes payload;
    put(payload, &header, sizeof(header));
    put_attribute(payload, CTRL_ATTR_FAMILY_ID, &id, sizeof(id));
    put_attribute(payload, CTRL_ATTR_FAMILY_NAME, PTSCHED_GENL_NAME, sizeof(PTSCHED_GENL_NAME));
    return message(GENL_ID_CTRL, 0, payload);
}

Bytes acknowledgement(int error)
{
    nlmsgerr answer{};
    answer.error = error;
    answer.msg = asked;
    Bytes payload;
    put(payload, &answer, sizeof(answer));
    return message(NLMSG_ERROR, NLM_F_CAPPED, payload);
}

/* A refusal with an extended acknowledgement, more or less. */
Bytes refusal(fuzz_input &input)
{
    nlmsgerr answer{};
    answer.error = -static_cast<int>(fuzz_byte(&input));
    answer.msg.nlmsg_len = fuzz_below(&input, 4) ? NLMSG_HDRLEN : fuzz_byte(&input);
    Bytes payload, text(fuzz_byte(&input));
    const std::uint32_t offset = fuzz_byte(&input);
    for (char &byte : text)
        byte = static_cast<char>(fuzz_byte(&input));
    put(payload, &answer, sizeof(answer));
    put_attribute(payload, NLMSGERR_ATTR_MSG, text.data(), text.size());
    put_attribute(payload, NLMSGERR_ATTR_OFFS, &offset, fuzz_below(&input, 4) ? sizeof(offset) : 1);
    return message(NLMSG_ERROR, static_cast<std::uint16_t>(fuzz_byte(&input) << 8), payload);
}

Bytes said(fuzz_input &input)
{
    Bytes noise;
    switch (fuzz_below(&input, 8)) {
    case 0:
        return message(NLMSG_DONE, NLM_F_MULTI, Bytes(4));
    case 1:
        return acknowledgement(0);
    case 2:
        return refusal(input);
    case 3:
        noise.resize(fuzz_byte(&input));
        for (char &byte : noise)
            byte = static_cast<char>(fuzz_byte(&input));
        return message(fuzz_byte(&input), fuzz_byte(&input), noise);
    default:
        return message(kFamily, fuzz_below(&input, 2) ? NLM_F_MULTI : 0, fuzz::read_attributes(input));
    }
}

/* As an answer to what was asked last. */
void address(Bytes &datagram)
{
    nlmsghdr header;
    for (std::size_t at = 0; at + sizeof(header) <= datagram.size(); at += NLMSG_ALIGN(header.nlmsg_len)) {
        memcpy(&header, datagram.data() + at, sizeof(header));
        if (header.nlmsg_len < sizeof(header))
            return;
        header.nlmsg_seq = asked.nlmsg_seq;
        header.nlmsg_pid = asked.nlmsg_pid;
        memcpy(datagram.data() + at, &header, sizeof(header));
    }
}

ssize_t send_netlink(const msghdr *out)
{
    ssize_t size = 0;
    for (std::size_t i = 0; i < out->msg_iovlen; i++)
        size += static_cast<ssize_t>(out->msg_iov[i].iov_len);
    memcpy(&asked, out->msg_iov[0].iov_base, sizeof(asked));
    answers.clear();
    if (asked.nlmsg_type == GENL_ID_CTRL) {
        answers.push_back(family());
        answers.push_back(acknowledgement(0));
    }
    return size;
}

ssize_t receive_netlink(msghdr *in, int flags)
{
    std::deque<Bytes> &from = answers.empty() ? script : answers;
    if (from.empty()) {
        errno = EAGAIN;
        return -1;
    }
    Bytes &datagram = from.front();
    address(datagram);
    const std::size_t size = datagram.size(), room = in->msg_iov[0].iov_len;
    std::copy_n(datagram.begin(), std::min(size, room), static_cast<char *>(in->msg_iov[0].iov_base));
    sockaddr_nl kernel{};
    kernel.nl_family = AF_NETLINK;
    memcpy(in->msg_name, &kernel, sizeof(kernel));
    in->msg_namelen = sizeof(kernel);
    in->msg_controllen = 0;
    in->msg_flags = size > room ? MSG_TRUNC : 0;
    if (!(flags & MSG_PEEK))
        from.pop_front();
    return static_cast<ssize_t>(flags & MSG_TRUNC ? size : std::min(size, room));
}

} // namespace

namespace fake_netlink {

void will_say(fuzz_input &input)
{
    script.clear();
    answers.clear();
    while (script.size() < kMostDatagrams && !fuzz_is_empty(&input)) {
        Bytes datagram;
        for (std::size_t left = 1 + fuzz_below(&input, kMostMessages); left > 0 && !fuzz_is_empty(&input); left--) {
            const Bytes one = said(input);
            put(datagram, one.data(), one.size());
        }
        if (const std::uint8_t cut = fuzz_byte(&input); cut > 240)
            datagram.resize(datagram.size() * (cut - 240) / 16);
        /* The kernel sends none that is empty. */
        if (!datagram.empty())
            script.push_back(std::move(datagram));
    }
}

} // namespace fake_netlink

extern "C" ssize_t sendmsg(int fd, const msghdr *out, int flags)
{
    return is_netlink(fd) ? send_netlink(out) : syscall(SYS_sendmsg, fd, out, flags);
}

extern "C" ssize_t recvmsg(int fd, msghdr *in, int flags)
{
    return is_netlink(fd) ? receive_netlink(in, flags) : syscall(SYS_recvmsg, fd, in, flags);
}

extern "C" int poll(pollfd *fds, nfds_t count, int timeout)
{
    if (count != 2 || !is_netlink(fds[0].fd))
        return static_cast<int>(syscall(SYS_poll, fds, count, timeout));
    const bool more = !script.empty();
    fds[0].revents = more ? POLLIN : 0;
    fds[1].revents = more ? 0 : POLLIN;
    return 1;
}
