// SPDX-License-Identifier: MIT
/*
 * The broker's beginning and end: what its options refuse, and how programs go on
 * without it.
 */
#include "libptsched/base/time_calls.hpp"
#include "libptsched/client/broker_connection.hpp"
#include "libptsched/client/broker_socket.hpp"
#include "tests/conformance/actor.hpp"
#include "tests/conformance/scheduler.hpp"
#include "tests/conformance/tap.hpp"
#include "tests/conformance/thread.hpp"
#include <ptsched/ptsched.hpp>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

using namespace scheduler;

namespace {

struct Ended {
    int status;
    std::string said;
};

/* Runs the broker with arguments with which it ends by itself. */
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

/* What the library does once the broker is gone by @signal. */
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
    /* Nobody has noticed yet: the turn goes on. */
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

/* Stopped, and still there: whoever has it for a scheduler gets no answer. */
struct StoppedBroker {
    StoppedBroker() { ::kill(broker_pid(), SIGSTOP); }
    ~StoppedBroker() { ::kill(broker_pid(), SIGCONT); }
};

TEST("a broker that is stopped: nobody waits for it without end, and it serves who comes after that")
{
    start_broker(default_broker());
    reset_settings();
    ptsched_client *late = nullptr;
    Client idle;
    {
        StoppedBroker stopped;
        CHECK_EQ(-EHOSTDOWN, ptsched_open(kDevice, PTSCHED_MECHANISM_GATE, PTSCHED_BACKEND_BROKER, &late));
        CHECK_EQ(-EHOSTDOWN, ptsched_set_mechanism(idle, PTSCHED_MECHANISM_SLICE));
        CHECK_EQ(PTSCHED_STATE_DEAD, idle.state());
        CHECK_EQ(-EHOSTDOWN, ptsched_acquire(idle, PTSCHED_NEVER, 0, nullptr));
        CHECK(contains(ptsched_strerror(-EHOSTDOWN), "does not answer"));
    }
    CHECK_EQ(0, ptsched_open(kDevice, PTSCHED_MECHANISM_GATE, PTSCHED_BACKEND_BROKER, &late));
    CHECK_EQ(0, ptsched_acquire(late, PTSCHED_NEVER, 0, nullptr));
    ptsched_close(late);
    stop_broker();
}

TEST("a broker that is stopped while threads wait for a turn: they are told")
{
    start_broker(default_broker());
    reset_settings();
    Actor holder;
    CHECK_EQ(0, holder.open(kDevice));
    CHECK_EQ(0, holder.acquire().result);
    Client client;
    AcquiringThread one(client), two(client);
    for (AcquiringThread *thread : {&one, &two})
        thread->wait_until_asleep();
    {
        StoppedBroker stopped;
        for (AcquiringThread *thread : {&one, &two})
            CHECK_EQ(-EHOSTDOWN, thread->join());
    }
    CHECK_EQ(PTSCHED_STATE_DEAD, client.state());
    CHECK_EQ(0, holder.release());
    CHECK_EQ(0, holder.acquire().result);
}

TEST("a broker that serves and has nothing to give is no silent one: the wait goes on")
{
    start_broker(default_broker());
    reset_settings();
    Actor holder;
    CHECK_EQ(0, holder.open(kDevice));
    CHECK_EQ(0, holder.acquire().result);
    Client client;
    /* Longer than its patience with a silent one. */
    const std::uint64_t deadline =
        ptsched::monotonic_ns() + 2 * std::chrono::nanoseconds(ptsched::kBrokerPatience).count();
    CHECK_EQ(-ETIMEDOUT, ptsched_acquire(client, deadline, 0, nullptr));
    CHECK_EQ(0, client.state() & PTSCHED_STATE_DEAD);
    CHECK_EQ(0, holder.release());
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
}

TEST("descriptors of ours are above the standard streams, closed for programs that are executed, and high")
{
    start_broker(default_broker());
    reset_settings();
    for (int fd : {STDIN_FILENO, STDERR_FILENO})
        close(fd);
    Client client;
    for (int fd : {ptsched_poll_fd(client), ptsched_hand_over(client)}) {
        CHECK(fd > 200);
        CHECK_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
    }
    for (int fd : {STDIN_FILENO, STDERR_FILENO})
        CHECK_EQ(-1, fcntl(fd, F_GETFD));
}

/* The files that this process has under numbers that are not the test's. */
std::vector<int> descriptors_from(int first)
{
    std::vector<int> found;
    for (int fd = first; fd < 1024; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            found.push_back(fd);
    return found;
}

TEST("a program that puts files of its own under our numbers keeps them as they are")
{
    start_broker(default_broker());
    reset_settings();
    Client client;
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
    std::vector<int> ours = descriptors_from(200);
    CHECK(ours.size() >= 3);
    /* One end of each is ours: whatever the library wrote, or read, would be seen. */
    int ends[2];
    CHECK_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends));
    CHECK_EQ(1, write(ends[1], "x", 1));
    for (int fd : ours)
        CHECK_EQ(fd, dup2(ends[0], fd));
    CHECK_EQ(-EBADFD, ptsched_ack(client, 0, 0));
    CHECK_EQ(-EBADFD, ptsched_release(client, nullptr));
    CHECK_EQ(-EBADFD, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
    CHECK_EQ(-1, ptsched_poll_fd(client));
    CHECK_EQ(-EBADFD, ptsched_hand_over(client));
    CHECK_EQ(PTSCHED_STATE_DEAD, client.state());
    char byte = 0;
    CHECK_EQ(1, read(ends[0], &byte, 1));
    CHECK_EQ('x', byte);
    CHECK_EQ(-1, read(ends[1], &byte, 1));
    for (int fd : ours)
        CHECK(fcntl(fd, F_GETFD) >= 0);
}

TEST("a relative path in the environment is that of the folder where the program was started")
{
    start_broker(default_broker());
    const std::string folder = socket_path().substr(0, socket_path().rfind('/'));
    pid_t child = fork();
    if (child == 0) {
        CHECK_EQ(0, chdir(folder.c_str()));
        setenv("PTSCHED_SOCKET", "broker.sock", 1);
        execl("/proc/self/exe", "broker-end", "--open-elsewhere", nullptr);
        _exit(126);
    }
    int status;
    CHECK_EQ(child, waitpid(child, &status, 0));
    CHECK_EQ(0, status);
}

TEST("a broker in another pid namespace says why it does not serve")
{
    start_broker(default_broker());
    ptsched_client *client = nullptr;
    /* The namespace is its children's. */
    if (unshare(CLONE_NEWPID) < 0)
        throw tap::Skipped(std::string("no pid namespace can be made here: ") + strerror(errno));
    char name[] = "/tmp/ptsched-test-XXXXXX";
    CHECK(mkdtemp(name) != nullptr);
    const std::string path = std::string(name) + "/broker.sock";
    pid_t apart = fork();
    if (apart == 0) {
        execl(default_broker().c_str(), "ptschedd", "--test-devices", "1", "--socket", path.c_str(), nullptr);
        _exit(1);
    }
    setenv("PTSCHED_SOCKET", path.c_str(), 1);
    int opened = -ENOENT;
    wait_until([&] {
        opened = ptsched_open(kDevice, PTSCHED_MECHANISM_GATE, PTSCHED_BACKEND_BROKER, &client);
        return opened != -ENOENT;
    });
    ::kill(apart, SIGTERM);
    waitpid(apart, nullptr, 0);
    rmdir(name);
    CHECK_EQ(-EXDEV, opened);
    CHECK(contains(ptsched_strerror(opened), "pid namespace"));
}

/* A client of a process that connected as nobody and is root by now, as a setuid program is that was executed since. */
int act_as_setuid(pid_t requester)
{
    if (seteuid(kNobody) < 0)
        return -errno;
    ptsched_client *client = nullptr;
    CHECK_EQ(0, ptsched_open(kDevice, PTSCHED_MECHANISM_GATE, backend(), &client));
    if (seteuid(0) < 0)
        return -errno;
    ptsched::UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, requester, 0)));
    return ptsched_act_for(client, PTSCHED_ACT_FOR_PIDFD, pidfd.get());
}

TEST("rights that a process has gained since it connected are not those of its connection")
{
    start_broker(default_broker());
    for (int nice : {0, 1}) {
        Actor requester(nice);
        pid_t child = fork();
        if (child == 0)
            _exit(-act_as_setuid(requester.pid()));
        int status = 0;
        waitpid(child, &status, 0);
        CHECK(WIFEXITED(status));
        CHECK_EQ(EPERM, WEXITSTATUS(status));
    }
    /* It waits for all children, of which a requester would be one. */
    stop_broker();
}

TEST("where no process that has ended has files with the broker, it says so at once")
{
    start_broker(default_broker());
    ptsched::UniqueFd socket;
    CHECK_EQ(0, ptsched::connect_to_broker(socket));
    ptsched::BrokerConnection connection(std::move(socket));
    char nothing;
    CHECK_EQ(0, connection.call(PTSCHED_BROKER_AWAIT_FREED, &nothing, 0));
    stop_broker();
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
        {"--grouping group", "process, user or cgroup"},
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
        worker.act_for_client(requester.hand_over());
        worker.act_for_oneself();
        try {
            worker.act_for_process(requester.hand_over());
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

int main(int argc, char **argv)
{
    if (argc == 2 && contains(argv[1], "--open-elsewhere")) {
        ptsched_client *client = nullptr;
        bool failed =
            chdir("/") < 0 || ptsched_open(kDevice, PTSCHED_MECHANISM_GATE, PTSCHED_BACKEND_BROKER, &client) < 0;
        if (client)
            ptsched_close(client);
        return failed;
    }
    setvbuf(stdout, nullptr, _IOLBF, 0);
    return tap::run("", [] {});
}
