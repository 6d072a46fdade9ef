// SPDX-License-Identifier: MIT
#include "tools/ptschedd/connection.hpp"

#include "libptsched/base/passed_fds.hpp"
#include "tools/ptschedd/control.hpp"
#include "tools/ptschedd/log.hpp"
#include "tools/ptschedd/server.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <system_error>

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

/* What a structure had in version 1.0. */
template <typename Argument> constexpr std::size_t least_size = sizeof(Argument);
template <> constexpr std::size_t least_size<struct ptsched_attach> = offsetof(struct ptsched_attach, node);

/* The structure of a request, by the rules of the uapi header for its size. */
template <typename Argument> int copy_in(std::span<const char> payload, Argument &argument)
{
    std::uint32_t size;
    if (payload.size() < sizeof(size))
        return -EINVAL;
    memcpy(&size, payload.data(), sizeof(size));
    if (size != payload.size() || size < least_size<Argument>)
        return -EINVAL;
    const std::size_t known = std::min(payload.size(), sizeof(argument));
    argument = {};
    memcpy(&argument, payload.data(), known);
    auto rest = payload.subspan(known);
    return std::any_of(rest.begin(), rest.end(), [](char byte) { return byte != 0; }) ? -E2BIG : 0;
}

/* A zero-padded field; none: it is not. */
std::optional<std::string> fixed_name(const char (&name)[PTSCHED_NAME_LEN])
{
    std::string_view field(name, sizeof(name));
    std::size_t length = field.find('\0');
    if (length == field.npos || field.find_first_not_of('\0', length) != field.npos)
        return std::nullopt;
    return std::string(field.substr(0, length));
}

/* The node that a descriptor is open on, for writing; 0: it is something else. */
std::uint64_t node_of_file(int fd)
{
    struct stat status;
    const int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || flags & O_PATH || (flags & O_ACCMODE) == O_RDONLY || fstat(fd, &status) < 0 ||
        !S_ISCHR(status.st_mode))
        return 0;
    return PTSCHED_NODE(major(status.st_rdev), minor(status.st_rdev));
}

ptsched_broker_header make_header(std::uint32_t cmd, std::size_t length, int result, std::uint64_t id)
{
    ptsched_broker_header header{};
    header.cmd = cmd;
    header.length = static_cast<std::uint32_t>(length);
    header.result = result;
    header.id = id;
    return header;
}

template <typename Argument> std::span<const char> bytes_of(const Argument &argument)
{
    return {reinterpret_cast<const char *>(&argument), sizeof(argument)};
}

} // namespace

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

/* What goes wrong while a peer is served ends its connection, and nobody else's. */
template <typename Function> void Connection::serving(Function function)
{
    try {
        function();
    } catch (const std::exception &error) {
        warn("process %d is hung up on: %s", process_->pid(), error.what());
        server_.doom(*this);
    }
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
        if (check_owner(request) == 0 && request.payload.size() == sizeof(std::uint64_t)) {
            std::uint64_t id;
            memcpy(&id, request.payload.data(), sizeof(id));
            device_->cancel(*client_, id);
        }
        return;
    case PTSCHED_BROKER_CLOSE:
        if (request.pid == process_->pid())
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

/* --- the contract --- */

int Connection::check_owner(const Request &request) const
{
    if (!client_)
        return -ENOTCONN;
    return request.pid == process_->pid() ? 0 : -EPERM;
}

template <typename Argument>
void Connection::serve(Request &request, int (Connection::*function)(Argument &, Request &))
{
    Argument argument;
    int ret = copy_in(request.payload, argument);
    bool anybody = std::is_same_v<Argument, struct ptsched_query> || std::is_same_v<Argument, struct ptsched_attach>;
    if (!ret && !anybody)
        ret = check_owner(request);
    if (!ret)
        ret = (this->*function)(argument, request);
    if (ret == -EINPROGRESS)
        return; /* answered there, or later */
    if (ret)
        return answer(request, ret);
    /* As many bytes as came: what is beyond the structure is zero. */
    std::vector<char> reply(request.payload.begin(), request.payload.end());
    argument.size = static_cast<std::uint32_t>(reply.size());
    memcpy(reply.data(), &argument, std::min(reply.size(), sizeof(argument)));
    answer(request, 0, reply);
}

void Connection::serve_contract(Request &request)
{
    std::uint32_t cmd = request.header.cmd;
    /* The size within the number is that of the caller's header, and may be another. */
    auto is = [&](std::uint32_t known) {
        constexpr std::uint32_t mask = ~(_IOC_SIZEMASK << _IOC_SIZESHIFT);
        return (cmd & mask) == (known & mask);
    };
    if (is(PTSCHED_IOC_QUERY))
        serve(request, &Connection::query);
    else if (is(PTSCHED_IOC_ATTACH))
        serve(request, &Connection::attach);
    else if (is(PTSCHED_IOC_ACQUIRE))
        serve(request, &Connection::acquire);
    else if (is(PTSCHED_IOC_RELEASE))
        serve(request, &Connection::release);
    else if (is(PTSCHED_IOC_REPORT))
        serve(request, &Connection::report);
    else if (is(PTSCHED_IOC_ACK))
        serve(request, &Connection::ack);
    else if (is(PTSCHED_IOC_ACT_FOR))
        serve(request, &Connection::act_for);
    else if (is(PTSCHED_IOC_MECHANISM))
        serve(request, &Connection::set_mechanism);
    else if (is(PTSCHED_IOC_HAND_OVER))
        serve(request, &Connection::hand_over);
    else if (is(PTSCHED_IOC_GROUP))
        serve(request, &Connection::set_group);
    else
        answer(request, -ENOTTY);
}

int Connection::query(struct ptsched_query &argument, Request &)
{
    if (argument.flags)
        return -EINVAL;
    argument.version_major = PTSCHED_VERSION_MAJOR;
    argument.version_minor = PTSCHED_VERSION_MINOR;
    argument.features = PTSCHED_FEATURE_PAGE | PTSCHED_FEATURE_ACT_FOR | PTSCHED_FEATURE_NETLINK |
                        PTSCHED_FEATURE_ABOVE | PTSCHED_FEATURE_GROUP;
    argument.nr_devices = static_cast<std::uint32_t>(server_.devices().size());
    argument.page_size = static_cast<std::uint32_t>(sysconf(_SC_PAGESIZE));
    return 0;
}

int Connection::attach(struct ptsched_attach &argument, Request &request)
{
    if (request.pid != process_->pid())
        return -EPERM;
    auto name = fixed_name(argument.device);
    if (argument.flags & ~PTSCHED_ATTACH_NODE || argument.pad || argument.mechanism > PTSCHED_MECHANISM_PREEMPT ||
        !name)
        return -EINVAL;
    if (!(argument.flags & PTSCHED_ATTACH_NODE) && argument.node)
        return -EINVAL;
    if (client_)
        return -EBUSY;
    Device *device = nullptr;
    int ret = server_.find_device(*name, device);
    if (ret)
        return ret;

    ret = check_node(argument, request, *device);
    if (ret)
        return ret;
    std::unique_ptr<Client> client;
    try {
        client = std::make_unique<Client>(*this, process_, viewer_.opener());
    } catch (const std::system_error &error) {
        warn("process %d cannot be served: %s", process_->pid(), error.what());
        return -error.code().value();
    }
    ret = device->attach(*client, argument.mechanism, server_.parent_of(*process_));
    if (ret)
        return ret;
    device_ = device;
    client_ = std::move(client);
    argument.device_id = device_->id();
    argument.entity = client_->self->id;

    auto ends = client_->page.take_client_ends();
    const ptsched_broker_header &header = request.header;
    Outgoing reply{
        make_header(header.cmd, header.length, 0, header.id), {request.payload.begin(), request.payload.end()}, {}};
    memcpy(reply.payload.data() + sizeof(argument.size), bytes_of(argument).data() + sizeof(argument.size),
           std::min(reply.payload.size(), sizeof(argument)) - sizeof(argument.size));
    reply.fds.push_back(std::move(ends.page));
    reply.fds.push_back(std::move(ends.state));
    reply.fds.push_back(std::move(ends.poll));
    reply.fds.push_back(std::move(ends.handle));
    send(std::move(reply));
    return -EINPROGRESS;
}

int Connection::check_node(const struct ptsched_attach &argument, const Request &request, const Device &device) const
{
    const bool given = argument.flags & PTSCHED_ATTACH_NODE;
    if (given && (argument.node < 0 || request.fds.empty()))
        return -EBADF;
    const std::uint64_t node = given ? node_of_file(request.fds[0].get()) : 0;
    return server_.suffices(device, node) || process_->has_cap_sys_nice(viewer_.opener()) ? 0 : -EACCES;
}

int Connection::acquire(struct ptsched_acquire &argument, Request &request)
{
    if (argument.flags & ~(PTSCHED_ACQUIRE_TRY | PTSCHED_ACQUIRE_ABOVE))
        return -EINVAL;
    if (client_->waiters.size() >= PTSCHED_BROKER_MAX_CALLS)
        return -ENOBUFS;
    Waiter waiter{.id = request.header.id,
                  .tid = request.header.tid,
                  .cpu = std::min<std::uint32_t>(request.header.cpu, CPU_SETSIZE),
                  .length = request.header.length,
                  .since_ns = monotonic_ns(),
                  .deadline_ns = argument.deadline_ns};
    if (client_->entity->weight > ptsp_nice_to_weight(0))
        server_.important_one_asks(static_cast<int>(waiter.cpu) - 1);
    int ret = device_->acquire(*client_, waiter, argument.flags);
    if (ret != -EINPROGRESS)
        acquired(waiter, ret);
    return -EINPROGRESS;
}

void Connection::acquired(const Waiter &waiter, int result)
{
    /* Another peer's doing may have led here. */
    serving([&] {
        Outgoing message{make_header(PTSCHED_IOC_ACQUIRE, 0, result, waiter.id), {}, {}};
        if (result == 0) {
            const Entity &entity = *client_->entity;
            struct ptsched_acquire argument {};
            argument.size = waiter.length;
            argument.deadline_ns = waiter.deadline_ns;
            argument.turn = entity.turn;
            argument.budget_ns = entity.granted_budget_ns;
            argument.waited_ns = std::max<std::uint64_t>(entity.granted_ns, waiter.since_ns) - waiter.since_ns;
            message.header.length = waiter.length;
            message.payload.resize(waiter.length);
            memcpy(message.payload.data(), &argument, sizeof(argument));
        }
        send(std::move(message));
    });
}

int Connection::release(struct ptsched_release &argument, Request &)
{
    return device_->release(*client_, argument);
}

int Connection::report(struct ptsched_report &argument, Request &)
{
    return device_->report(*client_, argument);
}

int Connection::ack(struct ptsched_ack &argument, Request &)
{
    device_->ack(*client_, argument);
    return 0;
}

int Connection::set_mechanism(struct ptsched_mechanism &argument, Request &)
{
    if (argument.mechanism > PTSCHED_MECHANISM_PREEMPT)
        return -EINVAL;
    device_->set_mechanism(*client_, argument.mechanism);
    return 0;
}

int Connection::hand_over(struct ptsched_hand_over &argument, Request &)
{
    if (argument.flags)
        return -EINVAL;
    client_->handed_over = true;
    return 0;
}

int Connection::set_group(struct ptsched_group &argument, Request &)
{
    auto name = fixed_name(argument.name);
    if (argument.flags || !name)
        return -EINVAL;
    return server_.groups().set(*client_->self, *name);
}

int Connection::act_for(struct ptsched_act_for &argument, Request &request)
{
    bool by_client = argument.kind == PTSCHED_ACT_FOR_CLIENT;
    if (argument.kind > PTSCHED_ACT_FOR_CLIENT || argument.pad)
        return -EINVAL;
    if (argument.fd == -1)
        return device_->act_for(*client_, nullptr, nullptr, nullptr);
    if (argument.fd < 0 || request.fds.empty())
        return -EBADF;
    ProcessRef requester;
    const Client *giver = nullptr;
    int ret = by_client ? server_.client_of_handle(request.fds[0].get(), *device_, giver)
                        : server_.process_of_pidfd(std::move(request.fds[0]), requester);
    if (ret)
        return ret;
    if (giver)
        requester = giver->process;
    return device_->act_for(*client_, requester, giver, server_.parent_of(*requester));
}

/* --- the helper --- */

void Connection::serve_switch(Request &request)
{
    int ret = request.pid != process_->pid()                  ? -EPERM
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
    auto name = fixed_name(argument.device);
    if (argument.off > 1 || !name)
        return -EINVAL;
    if (!switches_)
        return -ENOENT;
    /* The connection outlives its switches, and these what they have to answer. */
    auto answered = [this, argument, id = request.header.id](int result) {
        std::span<const char> payload = result ? std::span<const char>() : bytes_of(argument);
        send({make_header(PTSCHED_BROKER_SWITCH, payload.size(), result, id), {payload.begin(), payload.end()}, {}});
    };
    int ret = switches_->ask(*name, argument.device_id, argument.off, argument.turn, std::move(answered));
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
