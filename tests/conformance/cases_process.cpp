// SPDX-License-Identifier: MIT
/* Whose client it is: fork, descriptors that travel, and death at any point. */
#include "tests/conformance/actor.hpp"
#include "tests/conformance/calls.hpp"
#include "tests/conformance/scheduler.hpp"
#include "tests/conformance/tap.hpp"
#include "tests/conformance/thread.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <vector>

using namespace scheduler;

namespace {

/* What a forked child answers: the number of the first check that failed, or 0. */
template <typename Function> int in_child(Function function)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        _exit(function());
    int status;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST("in a forked child every call but query is EPERM")
{
    RawClient raw;
    CHECK_EQ(0, raw.attach(kDevice));
    CHECK_EQ(0, in_child([&] {
                 for (const Call &call : kCalls)
                     if (call.in_order(raw) != (call.number == PTSCHED_IOC_QUERY ? 0 : -EPERM))
                         return 1 + static_cast<int>(_IOC_NR(call.number));
                 return 0;
             }));
    CHECK_EQ(0, call_in_order<struct ptsched_acquire>(raw, PTSCHED_IOC_ACQUIRE));
}

TEST("in a forked child, what is wrong with an argument comes after who calls, but for attach")
{
    RawClient raw;
    CHECK_EQ(0, raw.attach(kDevice));
    CHECK_EQ(0, in_child([&] {
                 auto hand_over = in_order<struct ptsched_hand_over>();
                 hand_over.flags = 1;
                 if (raw.call(PTSCHED_IOC_HAND_OVER, hand_over) != -EPERM)
                     return 1;
                 return raw.attach(kDevice, PTSCHED_MECHANISM_PREEMPT + 1) == -EINVAL ? 0 : 2;
             }));
}

TEST("in a forked child every call of the library is EPERM, and a new client works")
{
    Client client;
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
    CHECK_EQ(0, in_child([&]() -> int {
                 ptsched_client *mine = client;
                 ptsched_usage usage{};
                 if (ptsched_acquire(mine, PTSCHED_NEVER, 0, nullptr) != -EPERM ||
                     ptsched_release(mine, &usage) != -EPERM || ptsched_report(mine, &usage) != -EPERM)
                     return 1;
                 if (ptsched_ack(mine, 0, 0) != -EPERM || ptsched_act_for(mine, 0, -1) != -EPERM ||
                     ptsched_hand_over(mine) != -EPERM)
                     return 2;
                 ptsched_close(mine);
                 if (ptsched_open(kDevice, PTSCHED_MECHANISM_GATE, backend(), &mine))
                     return 3;
                 if (ptsched_acquire(mine, PTSCHED_NEVER, PTSCHED_ACQUIRE_TRY, nullptr) != -EAGAIN)
                     return 4;
                 ptsched_close(mine);
                 return 0;
             }));
    CHECK(client.state() & PTSCHED_STATE_TURN);
    CHECK_EQ(0, ptsched_release(client, nullptr));
}

TEST("a child that closes what it inherited changes nothing")
{
    Client client;
    Actor other;
    other.join();
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
    other.start_waiting();
    CHECK_EQ(0, in_child([&] {
                 close_range(3, ~0U, 0);
                 return 0;
             }));
    struct ptsched_query query;
    CHECK_EQ(0, ptsched_query(client, &query));
    CHECK(client.state() & PTSCHED_STATE_TURN);
    CHECK_EQ(PTSCHED_ENTITY_WAITING, entity(other.pid())->at(PTSCHED_A_STATE));
    CHECK_EQ(0, ptsched_release(client, nullptr));
    CHECK_EQ(0, other.finish().result);
}

TEST("closing a client gives its turn back although a forked child has it open")
{
    Actor holder, other;
    holder.join();
    other.join();
    CHECK_EQ(0, holder.acquire().result);
    other.start_waiting();
    CHECK(holder.fork_sleeper() > 0);
    holder.close_client();
    CHECK_EQ(0, other.finish().result);
    wait_until_gone(holder.pid());
}

TEST("the owner's death frees the turn although a forked child has it open")
{
    Actor holder, other;
    holder.join();
    other.join();
    CHECK_EQ(0, holder.acquire().result);
    other.start_waiting();
    pid_t child = holder.fork_sleeper();
    CHECK(child > 0);
    kill(holder.pid(), SIGKILL);
    CHECK_EQ(0, other.finish().result);
    wait_until_gone(holder.pid());
    CHECK_EQ(0, kill(child, 0));
}

TEST("kill -9 while holding: the next one gets the turn")
{
    Actor holder, other;
    holder.join();
    other.join();
    CHECK_EQ(0, holder.acquire().result);
    other.start_waiting();
    holder.kill();
    CHECK_EQ(0, other.finish().result);
}

TEST("kill -9 while waiting: nobody waits any more, and the turn goes on")
{
    Actor holder, other;
    holder.join();
    other.join();
    CHECK_EQ(0, holder.acquire().result);
    other.start_waiting();
    pid_t pid = other.pid();
    other.kill();
    wait_until_gone(pid);
    CHECK_EQ(0, device().at(PTSCHED_A_WAITERS));
    CHECK(holder.page().state & PTSCHED_STATE_TURN);
    CHECK_EQ(0, holder.release());
    CHECK_EQ(0, holder.acquire().result);
}

TEST("a hundred processes killed at any point leave nothing")
{
    {
        std::vector<std::unique_ptr<Actor>> actors;
        for (int i = 0; i < 100; i++) {
            actors.push_back(std::make_unique<Actor>());
            CHECK_EQ(0, actors.back()->open(kDevice));
            actors.back()->start_acquire();
        }
        for (std::size_t i = 0; i < actors.size(); i++)
            actors[(i * 37) % actors.size()]->kill();
    }
    wait_until([] { return device().at(PTSCHED_A_ENTITIES) == 0; });
    CHECK_EQ(0, device().at(PTSCHED_A_WAITERS));
    Client client;
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, PTSCHED_ACQUIRE_TRY, nullptr));
}

TEST("the page cannot be made writable")
{
    Client client;
    auto page = const_cast<ptsched_page *>(client.page());
    CHECK_EQ(-1, mprotect(page, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), PROT_READ | PROT_WRITE));
    CHECK_EQ(EACCES, errno);
}

TEST("the page is not inherited by fork")
{
    Client client;
    auto page = const_cast<ptsched_page *>(client.page());
    unsigned char resident;
    CHECK_EQ(0, mincore(page, 1, &resident));
    CHECK_EQ(0, in_child([&] { return mincore(page, 1, &resident) == -1 && errno == ENOMEM ? 0 : 1; }));
}

TEST("descriptors are close-on-exec")
{
    Client client;
    CHECK(fcntl(ptsched_poll_fd(client), F_GETFD) & FD_CLOEXEC);
    CHECK(fcntl(ptsched_hand_over(client), F_GETFD) & FD_CLOEXEC);
}

TEST("a process has so many clients on a device, and no more")
{
    struct rlimit limit;
    CHECK_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
    const struct rlimit before = limit;
    limit.rlim_cur = limit.rlim_max;
    CHECK_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
    std::vector<ptsched_client *> clients(PTSCHED_CLIENTS_MAX);
    for (ptsched_client *&client : clients)
        CHECK_EQ(0, ptsched_open(kDevice, PTSCHED_MECHANISM_GATE, backend(), &client));
    ptsched_client *other = nullptr;
    CHECK_EQ(-EMFILE, ptsched_open(kDevice, PTSCHED_MECHANISM_GATE, backend(), &other));
    CHECK_EQ(0, ptsched_open(kOtherDevice, PTSCHED_MECHANISM_GATE, backend(), &other));
    ptsched_close(other);

    /* Those of others count that act for it. */
    Actor proxy;
    proxy.join();
    int self = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
    CHECK_EQ(-EMFILE, proxy.act_for(PTSCHED_ACT_FOR_PIDFD, self));
    ptsched_close(clients.back());
    clients.pop_back();
    wait_until([&] { return entity(getpid())->at(PTSCHED_A_CLIENTS) == PTSCHED_CLIENTS_MAX - 1; });
    CHECK_EQ(0, proxy.act_for(PTSCHED_ACT_FOR_PIDFD, self));
    CHECK_EQ(-EMFILE, ptsched_open(kDevice, PTSCHED_MECHANISM_GATE, backend(), &other));
    close(self);
    for (ptsched_client *client : clients)
        ptsched_close(client);
    CHECK_EQ(0, setrlimit(RLIMIT_NOFILE, &before));
}

} // namespace
