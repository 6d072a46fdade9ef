// SPDX-License-Identifier: MIT
#include "tests/conformance/actor.hpp"

#include "libptsched/base/passed_fds.hpp"
#include "tests/conformance/scheduler.hpp"
#include "tests/conformance/tap.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <grp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

namespace {

void on_signal(int) {}

/* One message with or without a descriptor. */
bool send_message(int socket, const void *data, std::size_t length, int fd)
{
    iovec part{const_cast<void *>(data), length};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    ptsched::PassedFds<1> passed;
    passed.put(message, fd);
    return sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(length);
}

bool receive_message(int socket, void *data, std::size_t length, ptsched::UniqueFd &fd)
{
    iovec part{data, length};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    ptsched::PassedFds<1> passed;
    passed.make_room(message);
    ssize_t got;
    do {
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got != static_cast<ssize_t>(length))
        return false;
    auto fds = ptsched::take_fds(message);
    fd = fds.empty() ? ptsched::UniqueFd() : std::move(fds.front());
    return true;
}

/* Nobody may be left to end it, if its case does not. */
constexpr unsigned kSleeperSeconds = 600;

pid_t start_sleeper()
{
    pid_t child = fork();
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, 0);
    alarm(kSleeperSeconds);
    for (;;)
        pause();
}

} // namespace

Actor::Actor(int nice)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        tap::fail(__FILE__, __LINE__, "socketpair");
    pid_ = fork();
    if (pid_ < 0)
        tap::fail(__FILE__, __LINE__, "fork");
    if (pid_ == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(pair[0]);
        serve(pair[1]);
    }
    setpgid(pid_, pid_);
    close(pair[1]);
    socket_.reset(pair[0]);
    /* Not by itself, which may come to it only after somebody has looked. */
    if (nice && setpriority(PRIO_PROCESS, static_cast<id_t>(pid_), getpriority(PRIO_PROCESS, 0) + nice) < 0)
        tap::fail(__FILE__, __LINE__, "setpriority");
}

Actor::~Actor()
{
    kill();
}

void Actor::kill()
{
    if (pid_ < 0)
        return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    ::kill(-pid_, SIGKILL);
    pid_ = -1;
}

void Actor::serve(int socket)
{
    ptsched_client *client = nullptr;
    for (;;) {
        Command command;
        ptsched::UniqueFd fd;
        if (!receive_message(socket, &command, sizeof(command), fd))
            _exit(0);
        int reply_fd = -1;
        Outcome outcome = carry_out(command, fd.get(), client, reply_fd);
        if (client)
            memcpy(&outcome.page, ptsched_client_page(client), sizeof(outcome.page));
        if (!send_message(socket, &outcome, sizeof(outcome), reply_fd))
            _exit(0);
    }
}

Actor::Outcome Actor::carry_out(const Command &command, int fd, ptsched_client *&client, int &reply_fd)
{
    Outcome outcome{};
    switch (command.operation) {
    case Operation::kOpen:
        outcome.result = ptsched_open(command.text, PTSCHED_MECHANISM_GATE, scheduler::backend(), &client);
        break;
    case Operation::kAcquire:
        outcome.result = ptsched_acquire(client, command.value, command.number, &outcome.grant);
        break;
    case Operation::kRelease: {
        ptsched_usage usage{};
        usage.gpu_ns = command.value;
        usage.submissions = 1;
        outcome.result = ptsched_release(client, &usage);
        /* The broker does not answer it: what others see has changed after a round trip. */
        struct ptsched_query query;
        ptsched_query(client, &query);
        break;
    }
    case Operation::kMechanism:
        outcome.result = ptsched_set_mechanism(client, command.number);
        break;
    case Operation::kGroup:
        outcome.result = ptsched_set_group(client, command.text);
        break;
    case Operation::kPage:
        break;
    case Operation::kActFor:
        outcome.result = ptsched_act_for(client, command.number, fd);
        break;
    case Operation::kHandle:
        reply_fd = ptsched_hand_over(client);
        break;
    case Operation::kClose:
        ptsched_close(client);
        client = nullptr;
        break;
    case Operation::kSignal: {
        struct sigaction action {};
        action.sa_handler = on_signal;
        action.sa_flags = command.number ? SA_RESTART : 0;
        outcome.result = sigaction(SIGUSR1, &action, nullptr);
        break;
    }
    case Operation::kBecome:
        outcome.result = setgroups(0, nullptr) || setresgid(command.number, command.number, command.number) ||
                         setresuid(command.number, static_cast<uid_t>(command.value), command.number);
        break;
    case Operation::kFork:
        outcome.result = start_sleeper();
        break;
    }
    return outcome;
}

void Actor::send(const Command &command, int fd)
{
    if (!send_message(socket_.get(), &command, sizeof(command), fd))
        tap::fail(__FILE__, __LINE__, "an actor is gone");
}

Actor::Outcome Actor::receive()
{
    Outcome outcome;
    if (!receive_message(socket_.get(), &outcome, sizeof(outcome), received_))
        tap::fail(__FILE__, __LINE__, "an actor is gone");
    return outcome;
}

Actor::Outcome Actor::ask(const Command &command, int fd)
{
    send(command, fd);
    return receive();
}

int Actor::open(const char *device)
{
    Command command{Operation::kOpen, 0, 0, {}};
    strncpy(command.text, device, sizeof(command.text) - 1);
    return ask(command).result;
}

void Actor::join()
{
    CHECK_EQ(0, open(scheduler::kDevice));
    scheduler::wait_for_budget(pid_);
}

Actor::Outcome Actor::acquire(std::uint64_t deadline_ns, unsigned flags)
{
    return ask({Operation::kAcquire, flags, deadline_ns, {}});
}

int Actor::release(std::uint64_t gpu_ns)
{
    return ask({Operation::kRelease, 0, gpu_ns, {}}).result;
}

int Actor::set_group(const char *name)
{
    Command command{Operation::kGroup, 0, 0, {}};
    if (name)
        snprintf(command.text, sizeof(command.text), "%s", name);
    return ask(command).result;
}

int Actor::set_mechanism(unsigned mechanism)
{
    return ask({Operation::kMechanism, mechanism, 0, {}}).result;
}

struct ptsched_page Actor::page()
{
    return ask({Operation::kPage, 0, 0, {}}).page;
}

int Actor::act_for(unsigned kind, int fd)
{
    return ask({Operation::kActFor, kind, 0, {}}, fd).result;
}

ptsched::UniqueFd Actor::handle()
{
    ask({Operation::kHandle, 0, 0, {}});
    return std::move(received_);
}

void Actor::close_client()
{
    ask({Operation::kClose, 0, 0, {}});
}

void Actor::start_acquire(std::uint64_t deadline_ns)
{
    send({Operation::kAcquire, 0, deadline_ns, {}});
}

void Actor::start_waiting(const char *device)
{
    start_acquire();
    scheduler::wait_until([this, device] {
        auto found = scheduler::entity(pid_, device);
        if (finished())
            tap::fail(__FILE__, __LINE__, "an actor need not wait");
        return found && (*found)[PTSCHED_A_STATE] == PTSCHED_ENTITY_WAITING;
    });
    scheduler::wait_until_asleep(pid_);
}

Actor::Outcome Actor::finish()
{
    return receive();
}

bool Actor::finished() const
{
    pollfd poll_for{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    return poll(&poll_for, 1, 0) > 0;
}

void Actor::handle_signal(bool restart)
{
    CHECK_EQ(0, ask({Operation::kSignal, restart, 0, {}}).result);
}

void Actor::interrupt()
{
    scheduler::wait_until([this] {
        ::kill(pid_, SIGUSR1);
        return finished();
    });
}

void Actor::become(uid_t real, uid_t effective)
{
    CHECK_EQ(0, ask({Operation::kBecome, real, effective, {}}).result);
}

pid_t Actor::fork_sleeper()
{
    return ask({Operation::kFork, 0, 0, {}}).result;
}
