// SPDX-License-Identifier: MIT
#include "broker_connection.hpp"

#include "no_cancellation.hpp"
#include "passed_fds.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <linux/futex.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

namespace ptsched {
namespace {

void futex_wake(std::atomic<uint32_t> &word)
{
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

// What a turn takes to come where somebody's work is taken off the device for it.
constexpr auto kTurn = std::chrono::microseconds(2000);

// An answer that comes at once is not slept for: to wake a processor would take longer.
ssize_t receive_soon(int socket, msghdr &message, std::chrono::microseconds soon)
{
    auto end = std::chrono::steady_clock::now() + soon;
    ssize_t got;
    do
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    while (got < 0 && errno == EAGAIN && std::chrono::steady_clock::now() < end);
    return got;
}

} // namespace

int BrokerConnection::post(uint32_t cmd, const void *payload, uint32_t length, int fd)
{
    NoCancellation here;
    ptsched_broker_header header{};
    header.cmd = cmd;
    header.length = length;
    header.flags = PTSCHED_BROKER_NO_REPLY;
    return send(header, payload, fd);
}

int BrokerConnection::send(ptsched_broker_header &header, const void *payload, int fd)
{
    iovec parts[] = {{&header, sizeof(header)}, {const_cast<void *>(payload), header.length}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = header.length ? 2 : 1;
    PassedFds<1> passed;
    passed.put(message, fd);
    while (sendmsg(socket_.get(), &message, MSG_NOSIGNAL) < 0) {
        if (errno == EINTR)
            continue;
        return errno == ECONNRESET || errno == ENOTCONN ? -EPIPE : -errno;
    }
    return 0;
}

int BrokerConnection::call(uint32_t cmd, void *argument, uint32_t length, int fd)
{
    Call call(next_id_++, argument, length, {});
    return transact(call, cmd, fd, false);
}

int BrokerConnection::call_interruptible(uint32_t cmd, void *argument, uint32_t length)
{
    Call call(next_id_++, argument, length, {});
    return transact(call, cmd, -1, true);
}

int BrokerConnection::call_for_fds(uint32_t cmd, void *argument, uint32_t length, std::span<UniqueFd> fds)
{
    Call call(next_id_++, argument, length, fds);
    int ret = transact(call, cmd, -1, false);
    if (ret)
        return ret;
    for (const UniqueFd &fd : fds)
        if (!fd)
            return -EMFILE; // the kernel drops descriptors that do not fit into the table
    return 0;
}

int BrokerConnection::transact(Call &call, uint32_t cmd, int fd, bool interruptible)
{
    NoCancellation here;
    ptsched_broker_header header{};
    header.cmd = cmd;
    header.length = call.length;
    header.id = call.id;
    if (cmd == PTSCHED_IOC_ACQUIRE) {
        header.tid = static_cast<uint32_t>(syscall(SYS_gettid));
        header.cpu = static_cast<uint32_t>(sched_getcpu() + 1);
        // For the important, time counts for more than the CPU. On a busy one, sleep costs milliseconds.
        if (getpriority(PRIO_PROCESS, static_cast<id_t>(getpid())) < 0)
            call.soon = kTurn;
    }
    {
        std::lock_guard lock(mutex_);
        if (broken_)
            return -EPIPE;
        call.next = calls_;
        calls_ = &call;
    }
    int ret = send(header, call.argument, fd);
    if (ret) {
        std::lock_guard lock(mutex_);
        forget(call);
        return ret;
    }
    if (wait(call, interruptible))
        return call.result;

    // A signal. The broker may have carried the call out meanwhile: its answer counts.
    uint64_t id = call.id;
    if (post(PTSCHED_BROKER_CANCEL, &id, sizeof(id)) == 0)
        wait(call, false);
    else
        call.result = -EPIPE;
    {
        std::lock_guard lock(mutex_);
        forget(call);
    }
    return call.result == -ECANCELED ? -EINTR : call.result;
}

// False: a signal came; the call is still in the list.
bool BrokerConnection::wait(Call &call, bool interruptible)
{
    std::unique_lock lock(mutex_);
    while (!call.done) {
        bool interrupted = reading_ ? sleep(call, lock) : read_one(call, lock);
        if (interrupted && interruptible && !call.done) {
            wake_a_reader();
            return false;
        }
    }
    forget(call);
    wake_a_reader();
    return true;
}

// True: interrupted by a signal.
bool BrokerConnection::sleep(Call &call, std::unique_lock<std::mutex> &lock)
{
    uint32_t seen = call.wakes.load();
    lock.unlock();
    // Without a timeout: only then does the kernel restart it after a signal.
    bool interrupted =
        syscall(SYS_futex, &call.wakes, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0) < 0 && errno == EINTR;
    lock.lock();
    return interrupted;
}

// True: interrupted by a signal.
bool BrokerConnection::read_one(Call &call, std::unique_lock<std::mutex> &lock)
{
    std::array<char, 512> buffer;
    PassedFds<PTSCHED_BROKER_NR_FDS> passed;
    iovec part{buffer.data(), buffer.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    // Without room for descriptors the kernel drops what nobody asked for.
    if (!call.fds.empty())
        passed.make_room(message);
    reading_ = true;
    lock.unlock();
    ssize_t got = receive_soon(socket_.get(), message, call.soon);
    if (got < 0 && errno == EAGAIN)
        got = recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
    int error = errno;
    lock.lock();
    reading_ = false;
    std::vector<UniqueFd> fds;
    if (got >= 0)
        fds = take_fds(message);
    if (got > 0) {
        deliver(buffer.data(), static_cast<size_t>(got), fds);
    } else if (got == 0 || error != EINTR) {
        fail_all();
    }
    return got < 0 && error == EINTR;
}

void BrokerConnection::deliver(const char *message, size_t length, std::span<UniqueFd> fds)
{
    ptsched_broker_header header;
    if (length < sizeof(header))
        return;
    memcpy(&header, message, sizeof(header));
    for (Call *call = calls_; call; call = call->next) {
        if (call->id != header.id || call->done)
            continue;
        call->result = header.result;
        if (header.result == 0 && length - sizeof(header) == call->length) {
            memcpy(call->argument, message + sizeof(header), call->length);
            for (size_t i = 0; i < call->fds.size() && i < fds.size(); i++)
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

void BrokerConnection::fail_all()
{
    broken_ = true;
    for (Call *call = calls_; call; call = call->next) {
        if (call->done)
            continue;
        call->result = -EPIPE;
        call->done = true;
        call->wakes++;
        futex_wake(call->wakes);
    }
}

// Whoever stops reading leaves it to another thread that still waits.
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
