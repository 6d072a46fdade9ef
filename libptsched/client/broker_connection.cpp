// SPDX-License-Identifier: MIT
#include "libptsched/client/broker_connection.hpp"

#include "libptsched/base/no_cancellation.hpp"
#include "libptsched/base/passed_fds.hpp"
#include "libptsched/base/time_calls.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

namespace ptsched {
namespace {

void futex_wake(std::atomic<std::uint32_t> &word)
{
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

/* What a turn takes to come where somebody's work is taken off the device for it. */
constexpr auto kTurn = std::chrono::microseconds(2000);

/* An answer that comes at once is not slept for: to wake a processor would take longer. */
ssize_t receive_soon(int socket, msghdr &message, std::chrono::microseconds soon)
{
    const std::uint64_t end_ns = monotonic_ns() + static_cast<std::uint64_t>(std::chrono::nanoseconds(soon).count());
    ssize_t got;
    do
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    while (got < 0 && errno == EAGAIN && monotonic_ns() < end_ns);
    return got;
}

} // namespace

void BrokerConnection::Limit::spend(std::uint64_t since_ns)
{
    left_ns_ -= std::min(left_ns_, std::min(monotonic_ns() - since_ns, step_ns_));
}

int BrokerConnection::post(std::uint32_t cmd, const void *payload, std::uint32_t length, int fd)
{
    NoCancellation here;
    ptsched_broker_header header{};
    header.cmd = cmd;
    header.length = length;
    header.flags = PTSCHED_BROKER_NO_REPLY;
    return send(header, payload, fd);
}

int BrokerConnection::send(ptsched_broker_header &header, const void *payload, int fd, int flags)
{
    iovec parts[] = {{&header, sizeof(header)}, {const_cast<void *>(payload), header.length}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = header.length ? 2 : 1;
    PassedFds<1> passed;
    passed.put(message, fd);
    if (!socket_.is_ours())
        return lost();
    while (sendmsg(socket_.get(), &message, MSG_NOSIGNAL | flags) < 0) {
        if (errno == EINTR)
            continue;
        if (errno == EAGAIN && !(flags & MSG_DONTWAIT))
            give_up();
        if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN || errno == EAGAIN)
            return lost();
        return -errno;
    }
    return 0;
}

/* Why nothing can be sent any more. */
int BrokerConnection::lost()
{
    Guard lock(mutex_);
    if (!socket_.is_ours())
        fail_all(-EBADFD);
    /* It may have said why before it hung up. */
    std::array<char, 512> last;
    ssize_t got = 0;
    while (!lost_ && !reading_ && (got = recv(socket_.get(), last.data(), last.size(), MSG_DONTWAIT)) != 0) {
        if (got > 0)
            deliver(last.data(), static_cast<std::size_t>(got), {});
        else if (errno != ECONNRESET)
            break;
    }
    return lost_ ? lost_ : turned_away_ ? turned_away_ : -EPIPE;
}

void BrokerConnection::ask_for_sign()
{
    /* Nobody waits for this answer: no call has this id. */
    struct ptsched_query query {};
    query.size = sizeof(query);
    ptsched_broker_header header{};
    header.cmd = PTSCHED_IOC_QUERY;
    header.length = sizeof(query);
    send(header, &query, -1, MSG_DONTWAIT);
}

void BrokerConnection::give_up()
{
    Guard lock(mutex_);
    fail_all(-EHOSTDOWN);
}

int BrokerConnection::call(std::uint32_t cmd, void *argument, std::uint32_t length, int fd)
{
    Call call(next_id_++, argument, length, {});
    return transact(call, cmd, fd, false);
}

int BrokerConnection::call_interruptible(std::uint32_t cmd, void *argument, std::uint32_t length)
{
    Call call(next_id_++, argument, length, {});
    return transact(call, cmd, -1, true);
}

int BrokerConnection::call_for_fds(std::uint32_t cmd, void *argument, std::uint32_t length, std::span<UniqueFd> fds,
                                   int fd)
{
    Call call(next_id_++, argument, length, fds);
    int ret = transact(call, cmd, fd, false);
    if (ret)
        return ret;
    for (const UniqueFd &received : fds)
        if (!received)
            return -EMFILE; /* the kernel drops descriptors that do not fit into the table */
    return 0;
}

int BrokerConnection::transact(Call &call, std::uint32_t cmd, int fd, bool interruptible)
{
    NoCancellation here;
    ptsched_broker_header header{};
    header.cmd = cmd;
    header.length = call.length;
    header.id = call.id;
    if (cmd == PTSCHED_IOC_ACQUIRE) {
        header.tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
        header.cpu = static_cast<std::uint32_t>(sched_getcpu() + 1);
        /* For the important, time counts for more than the CPU. On a busy one, sleep costs milliseconds. */
        if (getpriority(PRIO_PROCESS, static_cast<id_t>(getpid())) < 0)
            call.soon = kTurn;
    }
    {
        Guard lock(mutex_);
        if (lost_)
            return lost_;
        call.next = calls_;
        calls_ = &call;
    }
    int ret = send(header, call.argument, fd);
    if (ret) {
        Guard lock(mutex_);
        forget(call);
        return ret;
    }
    if (wait(call, interruptible ? std::nullopt : std::optional(Limit(patience_)), interruptible))
        return call.result;

    /* A signal. The broker may have carried the call out meanwhile: its answer counts. */
    std::uint64_t id = call.id;
    ret = post(PTSCHED_BROKER_CANCEL, &id, sizeof(id));
    if (ret == 0) {
        wait(call, Limit(patience_), false);
    } else {
        Guard lock(mutex_);
        forget(call);
        call.result = ret;
    }
    return call.result == -ECANCELED ? -EINTR : call.result;
}

/* False: a signal came; the call is still in the list. */
bool BrokerConnection::wait(Call &call, std::optional<Limit> limit, bool interruptible)
{
    Lock lock(mutex_);
    while (!call.done) {
        if (limit && limit->reached()) {
            fail_all(-EHOSTDOWN);
            break;
        }
        bool interrupted = reading_ ? sleep(call, lock, limit) : read_one(call, lock, limit);
        if (interrupted && interruptible && !call.done) {
            wake_a_reader();
            return false;
        }
    }
    forget(call);
    wake_a_reader();
    return true;
}

/* The watch has a lock of its own, under which it takes that. */
void BrokerConnection::watch(Call &call)
{
    if (!call.watch)
        call.watch.emplace(static_cast<WatchedConnection &>(*this));
}

/* True: interrupted by a signal. */
bool BrokerConnection::sleep(Call &call, Lock &lock, std::optional<Limit> &limit)
{
    std::uint32_t seen = call.wakes.load();
    lock.unlock(mutex_);
    if (!limit)
        watch(call);
    /* Only without a timeout does the kernel restart it after a signal. */
    bool interrupted = false;
    if (limit) {
        const std::uint64_t since_ns = monotonic_ns();
        wait_while(call.wakes, seen, limit->step_ns());
        limit->spend(since_ns);
    } else {
        interrupted =
            syscall(SYS_futex, &call.wakes, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0) < 0 && errno == EINTR;
    }
    lock.lock(mutex_);
    return interrupted;
}

/* True: interrupted by a signal. */
bool BrokerConnection::read_one(Call &call, Lock &lock, std::optional<Limit> &limit)
{
    std::array<char, 512> buffer;
    PassedFds<PTSCHED_BROKER_NR_FDS> passed;
    iovec part{buffer.data(), buffer.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    /* Without room for descriptors the kernel drops what nobody asked for. */
    if (!call.fds.empty())
        passed.make_room(message);
    if (!socket_.is_ours()) {
        fail_all(-EBADFD);
        return false;
    }
    reading_ = true;
    lock.unlock(mutex_);
    ssize_t got = receive_soon(socket_.get(), message, call.soon);
    if (got < 0 && errno == EAGAIN && limit) {
        const std::uint64_t since_ns = monotonic_ns();
        pollfd readable{.fd = socket_.get(), .events = POLLIN, .revents = 0};
        poll_within(&readable, 1, limit->step_ns());
        limit->spend(since_ns);
        got = recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    } else if (got < 0 && errno == EAGAIN) {
        watch(call);
        got = recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
    }
    int error = errno;
    lock.lock(mutex_);
    reading_ = false;
    std::vector<UniqueFd> fds;
    if (got >= 0)
        fds = take_fds(message);
    if (got > 0)
        deliver(buffer.data(), static_cast<std::size_t>(got), fds);
    else if (got == 0 || (error != EINTR && error != EAGAIN && error != ECONNRESET))
        fail_all(turned_away_ ? turned_away_ : -EPIPE);
    return got < 0 && error == EINTR;
}

void BrokerConnection::deliver(const char *message, std::size_t length, std::span<UniqueFd> fds)
{
    ptsched_broker_header header;
    if (length < sizeof(header))
        return;
    memcpy(&header, message, sizeof(header));
    heard_.fetch_add(1, std::memory_order_relaxed);
    if (header.cmd == PTSCHED_BROKER_TURNED_AWAY && header.result < 0)
        turned_away_ = header.result;
    for (Call *call = calls_; call; call = call->next) {
        if (call->id != header.id || call->done)
            continue;
        call->result = header.result;
        if (header.result == 0 && length - sizeof(header) == call->length) {
            memcpy(call->argument, message + sizeof(header), call->length);
            for (std::size_t i = 0; i < call->fds.size() && i < fds.size(); i++)
                call->fds[i] = std::move(fds[i]);
        } else if (header.result >= 0) {
            call->result = -EPROTO;
        }
        call->done = true;
        call->wakes++;
        futex_wake(call->wakes);
        return;
    }
}

void BrokerConnection::fail_all(int error)
{
    if (!lost_) {
        lost_ = error;
        /* Who reads for the others wakes up, and the broker sees that nobody is here any more. */
        if (socket_.is_ours())
            shutdown(socket_.get(), SHUT_RDWR);
    }
    for (Call *call = calls_; call; call = call->next) {
        if (call->done)
            continue;
        call->result = lost_;
        call->done = true;
        call->wakes++;
        futex_wake(call->wakes);
    }
}

/* Whoever stops reading leaves it to another thread that still waits. */
void BrokerConnection::wake_a_reader()
{
    if (reading_)
        return;
    for (Call *call = calls_; call; call = call->next) {
        if (call->done)
            continue;
        call->wakes++;
        futex_wake(call->wakes);
        return;
    }
}

void BrokerConnection::forget(Call &call)
{
    for (Call **link = &calls_; *link; link = &(*link)->next) {
        if (*link == &call) {
            *link = call.next;
            return;
        }
    }
}

} // namespace ptsched
