// SPDX-License-Identifier: MIT
#include "tools/ptschedd/connection.hpp"

#include "libptsched/base/passed_fds.hpp"
#include "tools/ptschedd/control.hpp"
#include "tools/ptschedd/log.hpp"
#include "tools/ptschedd/server.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace ptsched {
namespace {

/* No request needs more than one; what does not fit the kernel closes. */
constexpr std::size_t kMaxFds = 4;

/* Who sent it, as the kernel says. */
ucred sender_of(msghdr &message)
{
    ucred sender{.pid = 0, .uid = static_cast<uid_t>(-1), .gid = static_cast<gid_t>(-1)};
    for (cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part))
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_CREDENTIALS)
            memcpy(&sender, CMSG_DATA(part), sizeof(sender));
    return sender;
}

template <typename Argument> std::span<const char> bytes_of(const Argument &argument)
{
    return {reinterpret_cast<const char *>(&argument), sizeof(argument)};
}

} // namespace

ptsched_broker_header Connection::make_header(std::uint32_t cmd, std::size_t length, int result, std::uint64_t id)
{
    ptsched_broker_header header{};
    header.cmd = cmd;
    header.length = static_cast<std::uint32_t>(length);
    header.result = result;
    header.id = id;
    return header;
}

Connection::Connection(Server &server, UniqueFd socket, ProcessRef process)
    : server_(server), socket_(std::move(socket)), process_(std::move(process)), viewer_(socket_.get(), process_)
{
    key_ =
        server_.loop().add(socket_.get(), EPOLLIN, [this](std::uint32_t events) { serving([&] { handle(events); }); });
}

Connection::~Connection()
{
    stop();
    /* An attach that failed half-way made no entity. */
    if (client_ && client_->self)
        device_->detach(*client_);
}

void Connection::stop()
{
    if (std::exchange(stopped_, true))
        return;
    server_.loop().remove(key_, socket_.get());
    if (subscribed_)
        server_.unsubscribe(*this);
    server_.forget_awaiting(*this);
}

void Connection::abandon()
{
    stop();
    client_.reset();
}

/* --- messages --- */

void Connection::hang_up(const std::exception &error)
{
    warn("process %d is hung up on: %s", process_->pid(), error.what());
    server_.doom(*this);
}

void Connection::handle(std::uint32_t events)
{
    if (events & EPOLLOUT)
        flush();
    if (stopped_)
        return;
    if (outbox_.empty())
        receive();
    else if (events & (EPOLLHUP | EPOLLERR))
        server_.doom(*this);
}

void Connection::receive()
{
    std::array<char, PTSCHED_BROKER_MAX_MESSAGE> buffer;
    PassedFds<kMaxFds, CMSG_SPACE(sizeof(ucred))> passed;
    iovec part{buffer.data(), buffer.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    passed.make_room(message);
    ssize_t got = recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got < 0)
        return server_.doom(*this);

    /* Even an empty message, which looks like the end, may carry descriptors. */
    const ucred sender = sender_of(message);
    Request request{{}, {}, take_fds(message), sender.pid, sender.uid};
    auto length = static_cast<std::size_t>(got);
    if (length == 0)
        return server_.doom(*this);
    if (length >= sizeof(request.header))
        memcpy(&request.header, buffer.data(), sizeof(request.header));
    if (length < sizeof(request.header) || message.msg_flags & MSG_TRUNC ||
        request.header.length != length - sizeof(request.header)) {
        debug("process %d: malformed message of %zu bytes", process_->pid(), length);
        return server_.doom(*this);
    }
    request.payload = {buffer.data() + sizeof(request.header), request.header.length};
    dispatch(request);
}

void Connection::dispatch(Request &request)
{
    switch (request.header.cmd) {
    case PTSCHED_BROKER_GENL:
    case PTSCHED_BROKER_SUBSCRIBE:
        return serve_tool(request);
    case PTSCHED_BROKER_CHANNELS:
    case PTSCHED_BROKER_SWITCH:
        return serve_switch(request);
    case PTSCHED_BROKER_AWAIT_FREED:
        return server_.await_freed(*this, request.header.id);
    case PTSCHED_BROKER_CANCEL:
        if (check_caller(request, PTSC_OWNER) == 0 && request.payload.size() == sizeof(std::uint64_t)) {
            std::uint64_t id;
            memcpy(&id, request.payload.data(), sizeof(id));
            device_->cancel(*client_, id);
        }
        return;
    case PTSCHED_BROKER_CLOSE:
        if (is_from_owner(request))
            server_.doom(*this);
        return;
    default:
        return serve_contract(request);
    }
}

void Connection::answer(const Request &request, int result, std::span<const char> payload)
{
    if (request.header.flags & PTSCHED_BROKER_NO_REPLY)
        return;
    const ptsched_broker_header &header = request.header;
    send({make_header(header.cmd, payload.size(), result, header.id), {payload.begin(), payload.end()}, {}});
}

void Connection::freed(std::uint64_t id, int result)
{
    serving([&] { send({make_header(PTSCHED_BROKER_AWAIT_FREED, 0, result, id), {}, {}}); });
}

void Connection::send(Outgoing message)
{
    if (stopped_)
        return;
    if (outbox_.empty() && try_send(message))
        return;
    outbox_.push_back(std::move(message));
    if (outbox_.size() == 1)
        server_.loop().change(key_, socket_.get(), EPOLLOUT);
}

/* False: the peer's buffer is full. */
bool Connection::try_send(Outgoing &message)
{
    iovec parts[] = {{&message.header, sizeof(message.header)}, {message.payload.data(), message.payload.size()}};
    msghdr out{};
    out.msg_iov = parts;
    out.msg_iovlen = message.payload.empty() ? 1 : 2;
    std::array<int, PTSCHED_BROKER_NR_FDS> fds;
    std::transform(message.fds.begin(), message.fds.end(), fds.begin(), [](const UniqueFd &fd) { return fd.get(); });
    PassedFds<PTSCHED_BROKER_NR_FDS> passed;
    passed.put(out, fds.data(), message.fds.size());
    if (sendmsg(socket_.get(), &out, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
        return true;
    if (errno == EAGAIN || errno == EINTR)
        return false;
    server_.doom(*this);
    return true;
}

void Connection::flush()
{
    while (!outbox_.empty()) {
        if (!try_send(outbox_.front()))
            return;
        outbox_.pop_front();
    }
    if (!stopped_)
        server_.loop().change(key_, socket_.get(), EPOLLIN);
}

bool Connection::is_from_owner(const Request &request) const
{
    return request.pid == process_->pid();
}

int Connection::check_caller(const Request &request, ptsc_caller allowed) const
{
    return ptsc_check_caller(allowed, client_ != nullptr, is_from_owner(request));
}

/* --- the helper --- */

void Connection::serve_switch(Request &request)
{
    int ret = !is_from_owner(request)                         ? -EPERM
              : request.header.cmd == PTSCHED_BROKER_CHANNELS ? tell_channels(request)
                                                              : switch_channels(request);
    if (ret != -EINPROGRESS)
        answer(request, ret);
}

int Connection::tell_channels(Request &request)
{
    ptsched_broker_channels head;
    if (request.payload.size() < sizeof(head))
        return -EINVAL;
    memcpy(&head, request.payload.data(), sizeof(head));
    std::span<const char> rest = request.payload.subspan(sizeof(head));
    if (head.pad || head.count > PTSCHED_BROKER_MAX_CHANNELS || rest.size() != head.count * sizeof(std::uint32_t))
        return -EINVAL;
    std::vector<std::uint32_t> handles(head.count);
    if (!handles.empty())
        memcpy(handles.data(), rest.data(), rest.size());
    if (!switches_)
        switches_ = std::make_unique<Switchboard::Owner>(server_.switchboard(), process_);
    UniqueFd file = request.fds.empty() ? UniqueFd() : std::move(request.fds[0]);
    int ret = switches_->set_channels(std::move(file), head.client, head.subdevice, handles);
    if (ret)
        debug("process %d: its channels are not taken: %s", process_->pid(), strerror(-ret));
    return ret;
}

int Connection::switch_channels(Request &request)
{
    ptsched_broker_switch argument;
    if (request.payload.size() != sizeof(argument))
        return -EINVAL;
    memcpy(&argument, request.payload.data(), sizeof(argument));
    if (argument.off > 1 || !ptsc_is_name(argument.device))
        return -EINVAL;
    if (!switches_)
        return -ENOENT;
    /* The connection outlives its switches, and these what they have to answer. */
    auto answered = [this, argument, id = request.header.id](int result) {
        std::span<const char> payload = result ? std::span<const char>() : bytes_of(argument);
        send({make_header(PTSCHED_BROKER_SWITCH, payload.size(), result, id), {payload.begin(), payload.end()}, {}});
    };
    int ret = switches_->ask(argument.device, argument.device_id, argument.off, argument.turn, std::move(answered));
    return ret ? ret : -EINPROGRESS;
}

/* --- tools --- */

void Connection::serve_tool(Request &request)
{
    if (request.header.cmd == PTSCHED_BROKER_SUBSCRIBE) {
        if (!std::exchange(subscribed_, true))
            server_.subscribe(*this);
        return answer(request, 0);
    }
    /* Neither who wrote to the socket nor who opened it may change settings for the other. */
    Requester requester{viewer_, request.uid == viewer_.opener(),
                        viewer_.is_privileged() && (request.uid == 0 || request.uid == geteuid())};
    if (!request.fds.empty())
        requester.fd = std::move(request.fds[0]);
    Verdict verdict = control(server_.devices(), request.payload, std::move(requester),
                              [&](std::span<const char> message) { answer(request, 0, message); });
    if (!verdict.error)
        return answer(request, 0);
    ptsched_broker_refusal refusal{.attribute = verdict.attribute, .text = {}};
    verdict.text.copy(refusal.text, sizeof(refusal.text) - 1);
    answer(request, verdict.error, bytes_of(refusal));
}

void Connection::send_event(std::span<const char> bytes)
{
    if (stopped_)
        return;
    Outgoing lost{make_header(PTSCHED_BROKER_EVENT, 0, -ENOBUFS, 0), {}, {}};
    if (!outbox_.empty() || (lost_events_ && !try_send(lost))) {
        lost_events_ = true;
        return;
    }
    Outgoing message{make_header(PTSCHED_BROKER_EVENT, bytes.size(), 0, 0), {bytes.begin(), bytes.end()}, {}};
    lost_events_ = !try_send(message);
}

} // namespace ptsched
