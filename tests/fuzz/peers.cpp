// SPDX-License-Identifier: MIT
#include "tests/fuzz/peers.hpp"

#include "libptsched/base/passed_fds.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

namespace fuzz {
namespace {

enum class Order : char { connect, fork };

constexpr int kFirstControl = 500;

[[noreturn]] void fail(const char *what)
{
    perror(what);
    abort();
}

/* What an order is answered with: a number, and a descriptor unless it failed. */
void answer(int control, pid_t number, int fd)
{
    iovec part{&number, sizeof(number)};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    ptsched::PassedFds<1> passed;
    passed.put(message, fd);
    if (sendmsg(control, &message, MSG_NOSIGNAL) < 0)
        _exit(0);
}

pid_t hear(int control, ptsched::UniqueFd &fd)
{
    pid_t number = 0;
    iovec part{&number, sizeof(number)};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    ptsched::PassedFds<1> passed;
    passed.make_room(message);
    ssize_t got;
    /* The fuzzer has a timer. */
    while ((got = recvmsg(control, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        continue;
    if (got <= 0)
        fail("a peer does not answer");
    for (ptsched::UniqueFd &taken : ptsched::take_fds(message))
        fd = std::move(taken);
    return number;
}

void tell(int control, Order order)
{
    if (send(control, &order, sizeof(order), MSG_NOSIGNAL) < 0)
        fail("a peer takes no orders");
}

ptsched::UniqueFd connect_to(const std::string &path)
{
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    ptsched::UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (connect(fd.get(), reinterpret_cast<sockaddr *>(&address), sizeof(address)) < 0)
        fd.reset();
    return fd;
}

/* The life of a peer: until nobody gives it orders. */
[[noreturn]] void obey(ptsched::UniqueFd control, const std::string &path)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGCHLD, SIG_IGN);
    for (Order order; recv(control.get(), &order, sizeof(order), 0) == sizeof(order);) {
        if (order == Order::connect) {
            answer(control.get(), 0, connect_to(path).get());
            /* Now that there is no other copy of it. */
            answer(control.get(), 0, -1);
            continue;
        }
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
            fail("socketpair");
        ptsched::UniqueFd ours(ends[0]), theirs(ends[1]);
        pid_t child = fork();
        if (child == 0) {
            control.reset();
            ours.reset();
            obey(std::move(theirs), path);
        }
        answer(control.get(), child, ours.get());
    }
    _exit(0);
}

} // namespace

Peers::Peers(std::string socket_path)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        fail("socketpair");
    ptsched::UniqueFd ours(ends[0]), theirs(ends[1]);
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        ours.reset();
        obey(std::move(theirs), socket_path);
    }
    processes_[0] = {child, std::move(ours)};
}

Peers::Process &Peers::get(std::size_t which)
{
    Process &process = processes_[which];
    if (!process.pid) {
        ptsched::UniqueFd control;
        tell(processes_[0].control.get(), Order::fork);
        process.pid = hear(processes_[0].control.get(), control);
        /* Out of the way: by its numbers the target sees what it has left open. */
        process.control.reset(fcntl(control.get(), F_DUPFD_CLOEXEC, kFirstControl + static_cast<int>(which)));
    }
    return process;
}

ptsched::UniqueFd Peers::connect(std::size_t which)
{
    ptsched::UniqueFd fd, none;
    const int control = get(which).control.get();
    tell(control, Order::connect);
    hear(control, fd);
    hear(control, none);
    return fd;
}

pid_t Peers::pid(std::size_t which)
{
    return get(which).pid;
}

void Peers::kill(std::size_t which)
{
    Process &process = processes_[which];
    if (which == 0 || !process.pid)
        return;
    /* By its pidfd it is seen whether it has ended. */
    ptsched::UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
    ::kill(process.pid, SIGKILL);
    pollfd ended{.fd = pidfd.get(), .events = POLLIN, .revents = 0};
    if (pidfd)
        while (poll(&ended, 1, -1) < 0)
            continue;
    process = {};
}

} // namespace fuzz
