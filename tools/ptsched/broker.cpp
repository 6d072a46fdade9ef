// SPDX-License-Identifier: MIT
/* The broker, over its Unix socket: libptsched/client/broker_protocol.h. */
#include "libptsched/base/passed_fds.hpp"
#include "libptsched/base/time_calls.hpp"
#include "libptsched/client/broker_protocol.h"
#include "tools/ptsched/format.hpp"
#include "tools/ptsched/scheduler.hpp"
#include <ptsched/base/fd.hpp>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <utility>

namespace ptsched {

namespace {

/* One packet: what came after the header. */
struct Packet {
    ptsched_broker_header header;
    std::array<char, PTSCHED_BROKER_MAX_MESSAGE> payload;
};

/* "process 17, ptschedd, is stopped"; empty: not to be seen from here. */
std::string state_of_listener(int fd)
{
    ucred peer{};
    socklen_t size = sizeof(peer);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || peer.pid <= 0)
        return {};
    const std::string folder = "/proc/" + std::to_string(peer.pid);
    std::ifstream comm(folder + "/comm"), status(folder + "/status");
    std::string name, line;
    if (!std::getline(comm, name))
        return {};
    while (std::getline(status, line) && !line.starts_with("State:"))
        continue;
    const bool stopped = line.find_first_of("Tt", std::strlen("State:")) == line.find_first_not_of("\t ", 6);
    return "process " + std::to_string(peer.pid) + ", " + printable(name) + ", " +
           (stopped ? "is stopped; kill -CONT continues it" : "runs");
}

/* Empty: it says nothing. */
ptsched_broker_refusal refusal_in(const Packet &packet)
{
    ptsched_broker_refusal refusal{};
    if (packet.header.length >= sizeof(refusal))
        std::memcpy(&refusal, packet.payload.data(), sizeof(refusal));
    refusal.text[sizeof(refusal.text) - 1] = '\0';
    return refusal;
}

class Connection {
public:
    explicit Connection(const std::string &path) : path_(path)
    {
        sockaddr_un address{};
        if (path.size() >= sizeof(address.sun_path))
            throw Error("the broker's socket " + path + " has too long a name: at most " +
                        std::to_string(sizeof(address.sun_path) - 1) + " bytes");
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, path.size());

        fd_ = UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
        if (!fd_)
            throw Error(std::string("cannot open a socket: ") + strerror(errno));
        /* That for sending is connect()'s, too. */
        const timeval limit{.tv_sec = answer_timeout.count(), .tv_usec = 0};
        for (int which : {SO_RCVTIMEO, SO_SNDTIMEO})
            setsockopt(fd_.get(), SOL_SOCKET, which, &limit, sizeof(limit));
        if (connect(fd_.get(), reinterpret_cast<sockaddr *>(&address), sizeof(address))) {
            if (errno == EAGAIN)
                silent();
            throw Error("no broker answers at " + path + ": " + strerror(errno));
        }
    }

    int fd() const { return fd_.get(); }

    /* @passed is a descriptor that goes along; -1: none. */
    std::uint64_t send(std::uint32_t command, const void *payload, std::size_t length, int passed = -1)
    {
        std::array<char, PTSCHED_BROKER_MAX_MESSAGE> packet;
        ptsched_broker_header header{};
        iovec part{packet.data(), sizeof(header) + length};
        msghdr message{};
        PassedFds<1> descriptors;

        header.cmd = command;
        header.length = static_cast<std::uint32_t>(length);
        header.id = ++last_id_;
        std::memcpy(packet.data(), &header, sizeof(header));
        if (length)
            std::memcpy(packet.data() + sizeof(header), payload, length);
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        descriptors.put(message, passed);
        if (sendmsg(fd_.get(), &message, MSG_NOSIGNAL) < 0)
            gone(errno);
        return header.id;
    }

    /* False: nothing there (@flags MSG_DONTWAIT). */
    bool receive(Packet &packet, int flags = 0)
    {
        std::array<char, PTSCHED_BROKER_MAX_MESSAGE> buffer;
        ssize_t length;

        do
            length = recv(fd_.get(), buffer.data(), buffer.size(), flags);
        while (length < 0 && errno == EINTR);
        if (length < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) && (flags & MSG_DONTWAIT))
            return false;
        if (length <= 0)
            gone(length ? errno : 0);
        if (static_cast<std::size_t>(length) >= sizeof(packet.header))
            std::memcpy(&packet.header, buffer.data(), sizeof(packet.header));
        if (static_cast<std::size_t>(length) < sizeof(packet.header) ||
            packet.header.length != static_cast<std::size_t>(length) - sizeof(packet.header))
            throw Error("the broker at " + path_ + " sent a packet that is not of its protocol");
        std::memcpy(packet.payload.data(), buffer.data() + sizeof(packet.header), packet.header.length);
        if (packet.header.cmd == PTSCHED_BROKER_TURNED_AWAY)
            turned_away(packet);
        return true;
    }

    /* The next reply to @id. */
    void reply(Packet &packet, std::uint64_t id)
    {
        const auto end = std::chrono::steady_clock::now() + answer_timeout;
        do {
            if (std::chrono::steady_clock::now() > end)
                silent();
            receive(packet);
        } while (packet.header.id != id);
    }

private:
    std::string path_;
    UniqueFd fd_;
    std::uint64_t last_id_ = 0;

    [[noreturn]] void silent()
    {
        const std::string state = state_of_listener(fd_.get());
        throw Unresponsive("the broker at " + path_ + " does not answer within " +
                               std::to_string(answer_timeout.count()) + " s" + (state.empty() ? "" : ": " + state),
                           "restart it (systemctl restart ptschedd); until then programs run unscheduled");
    }

    [[noreturn]] void turned_away(const Packet &packet)
    {
        throw Unresponsive("the broker at " + path_ + " turns this process away: " +
                               (*refusal_in(packet).text ? refusal_in(packet).text : strerror(-packet.header.result)),
                           packet.header.result == -EXDEV
                               ? "start it where it sees the programs: outside of the container, or with the host's "
                                 "pid namespace (docker run --pid=host)"
                               : "give it more (LimitNOFILE= in its systemd unit)");
    }

    [[noreturn]] void gone(int error)
    {
        /* It may have said why it hangs up. */
        if (error == EPIPE || error == ECONNRESET)
            for (Packet last; receive(last, MSG_DONTWAIT);)
                continue;
        if (error == EAGAIN)
            silent();
        throw Error("the broker at " + path_ + " hung up" + (error ? std::string(": ") + strerror(error) : ""));
    }
};

void check(const Packet &packet)
{
    if (packet.header.result >= 0)
        return;
    const ptsched_broker_refusal refusal = refusal_in(packet);
    throw_refusal(-packet.header.result, refusal.text, refusal.attribute);
}

class Broker : public Scheduler {
public:
    explicit Broker(const std::string &path) : path_(path), connection_(path) {}

    std::string kind() const override { return "broker"; }
    std::string path() const override { return path_; }

    ptsched_query query() override
    {
        ptsched_query answer{};
        Packet packet;

        answer.size = sizeof(answer);
        connection_.reply(packet, connection_.send(PTSCHED_IOC_QUERY, &answer, sizeof(answer)));
        check(packet);
        if (packet.header.length != sizeof(answer))
            throw Error("the broker at " + path_ + " does not answer the version query");
        std::memcpy(&answer, packet.payload.data(), sizeof(answer));
        return answer;
    }

    int subscribe() override
    {
        Packet packet;

        events_ = std::make_unique<Connection>(path_);
        events_->reply(packet, events_->send(PTSCHED_BROKER_SUBSCRIBE, nullptr, 0));
        check(packet);
        return events_->fd();
    }

    std::vector<Event> read_events() override
    {
        std::vector<Event> found;
        Packet packet;

        /* A bound, so that the reader can show what it has while more comes. */
        while (found.size() < 256 && next_event(packet, !found.empty())) {
            if (packet.header.cmd != PTSCHED_BROKER_EVENT)
                continue;
            if (packet.header.result == -ENOBUFS)
                found.push_back({.event = PTSCHED_EVENT_LOST, .pid = {}, .comm = {}});
            else
                found.push_back(parse_event(packet.payload.data(), packet.header.length));
        }
        return found;
    }

protected:
    void dump(nl_msg *request, const Visitor &visit) override
    {
        Packet packet;
        std::uint64_t id = send(request);

        for (;;) {
            connection_.reply(packet, id);
            check(packet);
            if (!packet.header.length)
                return;
            visit(packet.payload.data(), packet.header.length);
        }
    }

    void change(nl_msg *request, int passed) override
    {
        Packet packet;

        connection_.reply(packet, send(request, passed));
        check(packet);
    }

private:
    std::string path_;
    Connection connection_;
    std::unique_ptr<Connection> events_;

    /* When there are others before it, an end is found at the next look. */
    bool next_event(Packet &packet, bool has_others)
    {
        try {
            return events_->receive(packet, MSG_DONTWAIT);
        } catch (const Error &) {
            if (!has_others)
                throw;
            return false;
        }
    }

    std::uint64_t send(nl_msg *request, int passed = -1)
    {
        const nlmsghdr *header = nlmsg_hdr(request);
        return connection_.send(PTSCHED_BROKER_GENL, nlmsg_data(header),
                                static_cast<std::size_t>(nlmsg_datalen(header)), passed);
    }
};

} // namespace

std::unique_ptr<Scheduler> open_broker(const std::string &socket)
{
    return std::make_unique<Broker>(socket);
}

} // namespace ptsched
