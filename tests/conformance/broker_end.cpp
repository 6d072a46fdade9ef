// SPDX-License-Identifier: MIT
// The broker's beginning and end: what its options refuse, and how programs go on
// without it.
#include "actor.hpp"
#include "scheduler.hpp"
#include "tap.hpp"
#include "thread.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <poll.h>
#include <ptsched/ptsched.hpp>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

using namespace scheduler;

namespace {

struct Ended {
    int status;
    std::string said;
};

// Runs the broker with arguments with which it ends by itself.
Ended run_broker(const std::string &arguments)
{
    FILE *output = popen((default_broker() + " " + arguments + " 2>&1").c_str(), "r");
    CHECK(output != nullptr);
    Ended ended{};
    char text[256];
    while (fgets(text, sizeof(text), output))
        ended.said += text;
    ended.status = WEXITSTATUS(pclose(output));
    return ended;
}

bool contains(const std::string &text, const std::string &part)
{
    return text.find(part) != text.npos;
}

void wait_for_hangup(int fd)
{
    pollfd poll_for{.fd = fd, .events = 0, .revents = 0};
    while (poll(&poll_for, 1, -1) <= 0)
        continue;
    CHECK(poll_for.revents & POLLHUP);
}

// What the library does once the broker is gone by @signal.
void check_end(int signal)
{
    start_broker(default_broker());
    reset_settings();
    Client holder, idle;
    CHECK_EQ(0, ptsched_acquire(holder, PTSCHED_NEVER, 0, nullptr));
    const ptsched_page *page = holder.page();
    kill(broker_pid(), signal);
    wait_for_hangup(ptsched_poll_fd(holder));
    wait_for_hangup(ptsched_poll_fd(idle));
    // Nobody has noticed yet: the turn goes on.
    CHECK_EQ(PTSCHED_STATE_TURN, holder.state() & (PTSCHED_STATE_TURN | PTSCHED_STATE_DEAD));
    CHECK_EQ(-EPIPE, ptsched_ack(holder, 0, 0));
    CHECK_EQ(PTSCHED_STATE_DEAD, holder.state());
    CHECK(page == holder.page());
    CHECK_EQ(PTSCHED_VERSION_MAJOR, page->version);
    CHECK_EQ(-EPIPE, ptsched_release(holder, nullptr));
    CHECK_EQ(-EPIPE, ptsched_acquire(holder, PTSCHED_NEVER, 0, nullptr));
    CHECK_EQ(-EPIPE, ptsched_acquire(idle, PTSCHED_NEVER, PTSCHED_ACQUIRE_TRY, nullptr));
    CHECK_EQ(PTSCHED_STATE_DEAD, idle.state());
    CHECK_EQ(-EPIPE, ptsched_act_for(idle, PTSCHED_ACT_FOR_PIDFD, -1));
    struct ptsched_query query;
    CHECK_EQ(-EPIPE, ptsched_query(idle, &query));
}

TEST("SIGTERM: pages are DEAD, calls are EPIPE, the socket is gone")
{
    check_end(SIGTERM);
    struct stat status;
    wait_until([&] { return stat(socket_path().c_str(), &status) < 0; });
    ptsched_client *client;
    CHECK_EQ(-ENOENT, ptsched_open(kDevice, PTSCHED_MECHANISM_GATE, PTSCHED_BACKEND_BROKER, &client));
    stop_broker();
}

TEST("kill -9: the same, and another broker starts on the socket left behind")
{
    check_end(SIGKILL);
    ptsched_client *client;
    CHECK_EQ(-ENOENT, ptsched_open(kDevice, PTSCHED_MECHANISM_GATE, PTSCHED_BACKEND_BROKER, &client));
    pid_t next = fork();
    if (next == 0) {
        execl(default_broker().c_str(), "ptschedd", "--test-devices", "1", nullptr);
        _exit(1);
    }
    wait_until([&] { return ptsched_open(kDevice, PTSCHED_MECHANISM_GATE, PTSCHED_BACKEND_BROKER, &client) == 0; });
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
    ptsched_close(client);
    kill(next, SIGTERM);
    int status;
    CHECK_EQ(next, waitpid(next, &status, 0));
    CHECK_EQ(0, status);
}

TEST("threads that wait are told when the broker dies")
{
    start_broker(default_broker());
    reset_settings();
    Actor holder;
    CHECK_EQ(0, holder.open(kDevice));
    CHECK_EQ(0, holder.acquire().result);
    Client client;
    AcquiringThread one(client), two(client), three(client);
    for (AcquiringThread *thread : {&one, &two, &three})
        thread->wait_until_asleep();
    kill(broker_pid(), SIGKILL);
    for (AcquiringThread *thread : {&one, &two, &three})
        CHECK_EQ(-EPIPE, thread->join());
    CHECK_EQ(PTSCHED_STATE_DEAD, client.state());
}

TEST("a second broker on the same socket refuses to start")
{
    start_broker(default_broker());
    Ended ended = run_broker("--test-devices 1");
    CHECK_EQ(1, ended.status);
    CHECK(contains(ended.said, "running on " + socket_path() + " already"));
    stop_broker();
}

TEST("it does not remove a file that is no socket")
{
    char name[] = "/tmp/ptsched-test-XXXXXX";
    int fd = mkstemp(name);
    CHECK(fd >= 0);
    close(fd);
    Ended ended = run_broker(std::string("--test-devices 1 --socket ") + name);
    CHECK_EQ(1, ended.status);
    CHECK(contains(ended.said, "is not a socket"));
    CHECK_EQ(0, unlink(name));
}

TEST("options out of range name the range, wrong ones what would be right")
{
    const struct {
        const char *arguments;
        const char *said;
    } cases[] = {
        {"--slice-us 99", "--slice-us '99': 100 to 1000000"},
        {"--slice-us 1000001", "100 to 1000000"},
        {"--slice-us 1x", "100 to 1000000"},
        {"--grace-us 1000001", "0 to 1000000"},
        {"--drain-us 999", "1000 to 10000000"},
        {"--inflight-us 9", "10 to 1000000"},
        {"--alpha 0", "1 to 1000"},
        {"--many 2", "0 to 1"},
        {"--idle-sharing on", "0 to 1"},
        {"--policy fair", "weighted, literal or none"},
        {"--device 17:00", "0000:17:00.0"},
        {"--test-devices 0", "1 to 64"},
        {"--nonsense", "--nonsense: no such option"},
        {"--slice-us", "needs a value"},
        {"extra", "options only"},
    };
    for (const auto &[arguments, said] : cases) {
        Ended ended = run_broker(arguments);
        CHECK_EQ(2, ended.status);
        if (!contains(ended.said, said))
            tap::fail(__FILE__, __LINE__, std::string(arguments) + " said: " + ended.said);
    }
    CHECK_EQ(0, run_broker("--help").status);
    CHECK_EQ(1, run_broker("--test-devices 1 --socket " + std::string(200, 'x')).status);
}

TEST("the C++ classes give back and throw with a sentence")
{
    start_broker(default_broker());
    reset_settings();
    ptsched::Client client(kDevice);
    CHECK_EQ(PTSCHED_BACKEND_BROKER, client.backend());
    {
        ptsched::Turn turn(client);
        CHECK(turn.number() > 0);
        CHECK(client.state() & PTSCHED_STATE_TURN);
        ptsched::Turn moved(std::move(turn));
        CHECK(client.state() & PTSCHED_STATE_TURN);
    }
    CHECK_EQ(0, client.state());
    ptsched::Turn explicit_end(client);
    explicit_end.release();
    CHECK_EQ(0, client.state());
    {
        ptsched::Client worker(kDevice), requester(kDevice);
        ptsched::UniqueFd self(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
        worker.act_for_process(self.get());
        worker.act_for_oneself();
        worker.act_for_client(requester.handle_fd());
        worker.act_for_oneself();
        try {
            worker.act_for_process(requester.handle_fd());
            CHECK(!"it acts for what is no process");
        } catch (const std::system_error &error) {
            CHECK_EQ(EINVAL, error.code().value());
        }
    }
    try {
        ptsched::Client wrong("ffff:7f:00.0");
        CHECK(!"an unknown device was opened");
    } catch (const std::system_error &error) {
        CHECK_EQ(ENODEV, error.code().value());
        CHECK(contains(error.what(), "no device 'ffff:7f:00.0'"));
    }
    stop_broker();
    try {
        ptsched::Turn turn(client);
        CHECK(!"a turn without a scheduler");
    } catch (const std::system_error &error) {
        CHECK_EQ(EPIPE, error.code().value());
    }
}

} // namespace

int main()
{
    setvbuf(stdout, nullptr, _IOLBF, 0);
    return tap::run("", [] {});
}
