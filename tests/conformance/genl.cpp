// SPDX-License-Identifier: MIT
#include "tests/conformance/genl.hpp"

#include "libptsched/base/passed_fds.hpp"
#include "tests/conformance/tap.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace genl {
namespace {

using scheduler::Attributes;
using scheduler::Reply;

using Buffer = std::array<char, 32768>;

[[noreturn]] void die(const char *what)
{
    throw tap::Failure(std::string(what) + ": " + strerror(errno));
}

template <typename Visit> void for_each_attribute(const char *data, std::size_t length, Visit visit)
{
    while (length >= NLA_HDRLEN) {
        nlattr head;
        memcpy(&head, data, sizeof(head));
        if (head.nla_len < NLA_HDRLEN || head.nla_len > length)
            return;
        visit(head.nla_type & NLA_TYPE_MASK, data + NLA_HDRLEN, head.nla_len - NLA_HDRLEN);
        std::size_t step = std::min<std::size_t>(NLA_ALIGN(head.nla_len), length);
        data += step;
        length -= step;
    }
}

bool is_string(int attribute)
{
    return attribute == PTSCHED_A_DEVICE || attribute == PTSCHED_A_UUID || attribute == PTSCHED_A_COMM;
}

std::int64_t number(const char *data, std::size_t length, bool is_signed)
{
    std::uint64_t value = 0;
    memcpy(&value, data, std::min(length, sizeof(value)));
    return is_signed && length == 4 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
}

Attributes parse(const char *data, std::size_t length)
{
    Attributes found;
    if (length < GENL_HDRLEN)
        return found;
    for_each_attribute(data + GENL_HDRLEN, length - GENL_HDRLEN, [&](int type, const char *value, std::size_t size) {
        if (!is_string(type) && type != PTSCHED_A_PAD)
            found[type] = number(value, size, type == PTSCHED_A_NICE);
    });
    return found;
}

class NetlinkChannel final : public Channel {
public:
    NetlinkChannel() : fd_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC))
    {
        sockaddr_nl any{};
        any.nl_family = AF_NETLINK;
        if (!fd_ || bind(fd_.get(), reinterpret_cast<sockaddr *>(&any), sizeof(any)) < 0)
            die("generic netlink");
        int on = 1;
        setsockopt(fd_.get(), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
        find_family();
    }

    Reply transact(const Payload &payload, int) override
    {
        bool dump = payload[0] == PTSCHED_CMD_GET_DEVICE || payload[0] == PTSCHED_CMD_GET_ENTITY ||
                    payload[0] == PTSCHED_CMD_GET_ACCOUNT;
        send(family_, dump ? NLM_F_DUMP : NLM_F_ACK, payload);
        Reply reply;
        receive([&](const nlmsghdr &head, const char *data, std::size_t length) {
            if (head.nlmsg_type == NLMSG_ERROR || head.nlmsg_type == NLMSG_DONE) {
                take_verdict(head, data, length, reply, payload);
                return false;
            }
            reply.messages.push_back(parse(data, length));
            return true;
        });
        return reply;
    }

    ptsched::UniqueFd subscribe() override
    {
        CHECK_EQ(0, transact(begin(PTSCHED_CMD_SUBSCRIBE), -1).error);
        return std::move(fd_);
    }

private:
    void send(std::uint16_t type, std::uint16_t flags, const Payload &payload)
    {
        nlmsghdr head{};
        head.nlmsg_len = static_cast<std::uint32_t>(NLMSG_HDRLEN + payload.size());
        head.nlmsg_type = type;
        head.nlmsg_flags = NLM_F_REQUEST | flags;
        iovec parts[] = {{&head, sizeof(head)}, {const_cast<char *>(payload.data()), payload.size()}};
        msghdr message{};
        message.msg_iov = parts;
        message.msg_iovlen = 2;
        if (sendmsg(fd_.get(), &message, 0) < 0)
            die("netlink");
    }

    template <typename Visit> void receive(Visit visit)
    {
        for (bool more = true; more;) {
            alignas(nlmsghdr) Buffer buffer;
            ssize_t got = recv(fd_.get(), buffer.data(), buffer.size(), 0);
            if (got < 0)
                die("netlink");
            auto left = static_cast<unsigned>(got);
            for (auto *head = reinterpret_cast<nlmsghdr *>(buffer.data()); more && NLMSG_OK(head, left);
                 head = NLMSG_NEXT(head, left))
                more = visit(*head, static_cast<char *>(NLMSG_DATA(head)), head->nlmsg_len - NLMSG_HDRLEN);
        }
    }

    /* The extended acknowledgement says where in the request the fault is. */
    static void take_verdict(const nlmsghdr &head, const char *data, std::size_t length, Reply &reply,
                             const Payload &payload)
    {
        int error;
        memcpy(&error, data, sizeof(error));
        reply.error = error;
        if (head.nlmsg_type != NLMSG_ERROR || !(head.nlmsg_flags & NLM_F_ACK_TLVS))
            return;
        std::size_t skip = sizeof(nlmsgerr);
        if (!(head.nlmsg_flags & NLM_F_CAPPED))
            skip += NLMSG_ALIGN(payload.size());
        for_each_attribute(data + skip, length - skip, [&](int type, const char *value, std::size_t) {
            if (type != NLMSGERR_ATTR_OFFS)
                return;
            std::uint32_t offset;
            memcpy(&offset, value, sizeof(offset));
            nlattr at;
            memcpy(&at, payload.data() + offset - NLMSG_HDRLEN, sizeof(at));
            reply.attribute = at.nla_type;
        });
    }

    void find_family()
    {
        Payload payload = begin(CTRL_CMD_GETFAMILY);
        append(payload, CTRL_ATTR_FAMILY_NAME, PTSCHED_GENL_NAME, sizeof(PTSCHED_GENL_NAME));
        send(GENL_ID_CTRL, 0, payload);
        receive([&](const nlmsghdr &head, const char *data, std::size_t length) {
            if (head.nlmsg_type == NLMSG_ERROR)
                throw tap::Failure("no netlink family " PTSCHED_GENL_NAME "; is the module loaded?");
            for_each_attribute(data + GENL_HDRLEN, length - GENL_HDRLEN,
                               [&](int type, const char *value, std::size_t size) {
                                   if (type == CTRL_ATTR_FAMILY_ID)
                                       family_ = static_cast<std::uint16_t>(number(value, size, false));
                               });
            return false;
        });
    }

    ptsched::UniqueFd fd_;
    std::uint16_t family_ = 0;
};

class BrokerChannel final : public Channel {
public:
    explicit BrokerChannel(const std::string &path) : fd_(connect_to(path)) {}

    Reply transact(const Payload &payload, int fd) override
    {
        send(PTSCHED_BROKER_GENL, payload, fd);
        for (Reply reply;;) {
            Buffer buffer;
            ptsched_broker_header header = receive(buffer);
            reply.error = header.result;
            if (header.result < 0 && header.length == sizeof(ptsched_broker_refusal)) {
                ptsched_broker_refusal refusal;
                memcpy(&refusal, buffer.data() + sizeof(header), sizeof(refusal));
                reply.attribute = static_cast<int>(refusal.attribute);
            }
            if (header.result < 0 || header.length == 0)
                return reply;
            reply.messages.push_back(parse(buffer.data() + sizeof(header), header.length));
        }
    }

    ptsched::UniqueFd subscribe() override
    {
        send(PTSCHED_BROKER_SUBSCRIBE, {}, -1);
        Buffer buffer;
        CHECK_EQ(0, receive(buffer).result);
        return std::move(fd_);
    }

private:
    void send(std::uint32_t cmd, const Payload &payload, int fd)
    {
        ptsched_broker_header header{};
        header.cmd = cmd;
        header.length = static_cast<std::uint32_t>(payload.size());
        header.id = 1;
        iovec parts[] = {{&header, sizeof(header)}, {const_cast<char *>(payload.data()), payload.size()}};
        msghdr message{};
        message.msg_iov = parts;
        message.msg_iovlen = 2;
        ptsched::PassedFds<1> passed;
        passed.put(message, fd);
        if (sendmsg(fd_.get(), &message, MSG_NOSIGNAL) < 0)
            die("broker");
    }

    ptsched_broker_header receive(Buffer &buffer)
    {
        ssize_t got = recv(fd_.get(), buffer.data(), buffer.size(), 0);
        ptsched_broker_header header;
        if (got < static_cast<ssize_t>(sizeof(header)))
            die("broker");
        memcpy(&header, buffer.data(), sizeof(header));
        return header;
    }

    ptsched::UniqueFd fd_;
};

} // namespace

Payload begin(std::uint8_t cmd)
{
    genlmsghdr header{};
    header.cmd = cmd;
    header.version = PTSCHED_GENL_VERSION;
    return Payload(reinterpret_cast<char *>(&header), reinterpret_cast<char *>(&header + 1));
}

void append(Payload &payload, std::uint16_t attribute, const void *data, std::size_t length)
{
    nlattr head{static_cast<std::uint16_t>(NLA_HDRLEN + length), attribute};
    auto bytes = static_cast<const char *>(data);
    payload.insert(payload.end(), reinterpret_cast<char *>(&head), reinterpret_cast<char *>(&head + 1));
    payload.insert(payload.end(), bytes, bytes + length);
    payload.resize(NLA_ALIGN(payload.size()));
}

std::unique_ptr<Channel> open_netlink()
{
    return std::make_unique<NetlinkChannel>();
}

std::unique_ptr<Channel> open_broker(const std::string &path)
{
    return std::make_unique<BrokerChannel>(path);
}

Attributes next_event(int fd, bool netlink)
{
    Buffer buffer;
    ssize_t got = recv(fd, buffer.data(), buffer.size(), 0);
    auto skip = static_cast<ssize_t>(netlink ? NLMSG_HDRLEN : sizeof(ptsched_broker_header));
    if (got < skip)
        die("waiting for an event");
    return parse(buffer.data() + skip, static_cast<std::size_t>(got - skip));
}

ptsched::UniqueFd connect_to(const std::string &path)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    ptsched::UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!fd || connect(fd.get(), reinterpret_cast<sockaddr *>(&address), sizeof(address)) < 0)
        die(path.c_str());
    return fd;
}

int call(int socket, const ptsched_broker_header &header, void *argument, int fd)
{
    iovec parts[] = {{const_cast<ptsched_broker_header *>(&header), sizeof(header)}, {argument, header.length}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    ptsched::PassedFds<1> passed;
    passed.put(message, fd);
    if (sendmsg(socket, &message, MSG_NOSIGNAL) < 0)
        return -errno;
    for (;;) {
        Buffer buffer;
        ssize_t got = recv(socket, buffer.data(), buffer.size(), 0);
        ptsched_broker_header reply;
        if (got < static_cast<ssize_t>(sizeof(reply)))
            return -EPIPE;
        memcpy(&reply, buffer.data(), sizeof(reply));
        if (reply.id != header.id)
            continue;
        if (reply.result == 0)
            memcpy(argument, buffer.data() + sizeof(reply), std::min(reply.length, header.length));
        return reply.result;
    }
}

} // namespace genl
