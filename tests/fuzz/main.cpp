// SPDX-License-Identifier: MIT
/*
 * The broker among peers that keep no rule: it lives, serves the others, and is
 * afterwards as it was before.
 */
#include "tests/conformance/actor.hpp"
#include "tests/conformance/genl.hpp"
#include "tests/conformance/scheduler.hpp"
#include "tests/conformance/tap.hpp"
#include "tests/fuzz/hostile.hpp"
#include "tests/sanitizers.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

using namespace scheduler;

namespace {

constexpr unsigned kMessages = 20000;
std::uint64_t seed;
/* Of the broker that nobody is connected to. */
std::size_t idle_descriptors;

std::size_t broker_descriptors()
{
    std::filesystem::path folder = "/proc/" + std::to_string(broker_pid()) + "/fd";
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

/* It answers, nobody is left on a device, and the descriptors are as many as before. */
void check_clean()
{
    wait_until([] { return device().at(PTSCHED_A_ENTITIES) == 0; });
    CHECK_EQ(0, device().at(PTSCHED_A_WAITERS));
    wait_until([] { return broker_descriptors() == idle_descriptors; });
    RawClient client;
    CHECK_EQ(0, client.attach(kDevice));
}

ptsched_broker_header header_of(std::uint32_t cmd, std::uint32_t length, std::uint64_t id)
{
    ptsched_broker_header header{};
    header.cmd = cmd;
    header.length = length;
    header.id = id;
    return header;
}

int send_acquire(int socket, std::uint64_t id)
{
    struct {
        ptsched_broker_header header;
        struct ptsched_acquire acquire;
    } message{};
    message.header = header_of(PTSCHED_IOC_ACQUIRE, sizeof(message.acquire), id);
    message.acquire.size = sizeof(message.acquire);
    message.acquire.deadline_ns = PTSCHED_NEVER;
    return send(socket, &message, sizeof(message), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

TEST("20000 hostile messages leave nothing behind")
{
    printf("# seed %llu\n", static_cast<unsigned long long>(seed));
    HostilePeers peers(socket_path(), seed);
    /* Those that a full socket did not take do not count. */
    while (peers.sent() < kMessages)
        peers.step();
    peers.hang_up();
    check_clean();
}

TEST("hostile processes that are killed leave nothing behind")
{
    printf("# seed %llu\n", static_cast<unsigned long long>(seed));
    for (unsigned i = 0; i < 20; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            HostilePeers peers(socket_path(), seed + 1 + i);
            while (peers.sent() < 200 + i)
                peers.step();
            kill(getpid(), SIGKILL);
        }
        CHECK(pid > 0);
        CHECK_EQ(pid, waitpid(pid, nullptr, 0));
    }
    check_clean();
}

TEST("the helper takes no file but the driver's control device, and no half messages")
{
    {
        RawClient client;
        struct {
            ptsched_broker_channels head;
            std::uint32_t handle;
        } channels{{1, 2, 1, 0}, 3};
        ptsched_broker_switch request{};
        strcpy(request.device, kDevice);
        ptsched::UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
        CHECK_EQ(-EBADF, client.call(PTSCHED_BROKER_CHANNELS, &channels, sizeof(channels)));
        CHECK_EQ(-EBADF, client.call(PTSCHED_BROKER_CHANNELS, &channels, sizeof(channels), null.get()));
        CHECK_EQ(-EINVAL, client.call(PTSCHED_BROKER_CHANNELS, &channels, sizeof(channels.head), null.get()));
        channels.head.pad = 1;
        CHECK_EQ(-EINVAL, client.call(PTSCHED_BROKER_CHANNELS, &channels, sizeof(channels), null.get()));
        CHECK_EQ(-ENOENT, client.call(PTSCHED_BROKER_SWITCH, request));
        request.off = 2;
        CHECK_EQ(-EINVAL, client.call(PTSCHED_BROKER_SWITCH, request));
        CHECK_EQ(-EINVAL, client.call(PTSCHED_BROKER_SWITCH, &request, sizeof(request) - 1));
        pid_t other = fork();
        CHECK(other >= 0);
        if (other == 0)
            _exit(client.call(PTSCHED_BROKER_SWITCH, request) == -EPERM ? 0 : 1);
        int status;
        CHECK_EQ(other, waitpid(other, &status, 0));
        CHECK_EQ(0, status);
    }
    check_clean();
}

TEST("of one client only so many calls wait")
{
    {
        RawClient holder, flood;
        CHECK_EQ(0, holder.attach(kDevice));
        Actor other;
        CHECK_EQ(0, other.open(kDevice));
        CHECK_EQ(0, other.acquire().result);
        CHECK_EQ(0, flood.attach(kDevice));
        for (std::uint64_t id = 100; id <= 100 + PTSCHED_BROKER_MAX_CALLS; id++)
            CHECK_EQ(0, send_acquire(flood.fd(), id));
        ptsched_broker_header answer;
        CHECK(recv(flood.fd(), &answer, sizeof(answer), 0) == sizeof(answer));
        CHECK_EQ(100 + PTSCHED_BROKER_MAX_CALLS, answer.id);
        CHECK_EQ(-ENOBUFS, answer.result);
        other.kill();
        /* All of them are answered with the turn. */
        for (int i = 0; i < PTSCHED_BROKER_MAX_CALLS; i++) {
            CHECK(recv(flood.fd(), &answer, sizeof(answer), 0) == sizeof(answer));
            CHECK_EQ(0, answer.result);
        }
    }
    check_clean();
}

TEST("a peer that takes no answers is not read any more, and the others are served")
{
    {
        ptsched::UniqueFd deaf = genl::connect_to(socket_path());
        genl::Payload payload = genl::begin(PTSCHED_CMD_GET_DEVICE);
        auto header = header_of(PTSCHED_BROKER_GENL, static_cast<std::uint32_t>(payload.size()), 1);
        genl::Payload message(reinterpret_cast<char *>(&header), reinterpret_cast<char *>(&header + 1));
        message.insert(message.end(), payload.begin(), payload.end());
        unsigned taken = 0;
        /* Full, and still full after the broker has served somebody else. */
        for (int full = 0; full < 3;) {
            if (send(deaf.get(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
                taken++;
                full = 0;
                continue;
            }
            CHECK_EQ(EAGAIN, errno);
            CHECK_EQ(2, request(PTSCHED_CMD_GET_DEVICE, {}).messages.size());
            full++;
        }
        printf("# %u requests were taken\n", taken);
        /* When it reads again, every request is answered by two devices and an end. */
        unsigned ends = 0;
        while (ends < taken) {
            char buffer[PTSCHED_BROKER_MAX_MESSAGE];
            ssize_t got = recv(deaf.get(), buffer, sizeof(buffer), 0);
            CHECK(got >= static_cast<ssize_t>(sizeof(header)));
            ends += got == sizeof(header);
        }
    }
    check_clean();
}

TEST("a subscriber that is too slow is told that events were lost")
{
    {
        ptsched::UniqueFd slow = genl::connect_to(socket_path());
        auto header = header_of(PTSCHED_BROKER_SUBSCRIBE, 0, 1);
        CHECK(send(slow.get(), &header, sizeof(header), MSG_NOSIGNAL) == sizeof(header));
        RawClient client;
        CHECK_EQ(0, client.attach(kDevice));
        struct ptsched_acquire acquire {};
        acquire.size = sizeof(acquire);
        acquire.deadline_ns = PTSCHED_NEVER;
        struct ptsched_release release {};
        release.size = sizeof(release);
        for (int i = 0; i < 2000; i++) {
            CHECK_EQ(0, client.call(PTSCHED_IOC_ACQUIRE, acquire));
            CHECK_EQ(0, client.call(PTSCHED_IOC_RELEASE, release));
        }
        /* Room for one more, with which the loss is told. */
        for (bool lost = false; !lost;) {
            ptsched_broker_header answer;
            if (recv(slow.get(), &answer, sizeof(answer), MSG_DONTWAIT) < 0) {
                CHECK_EQ(EAGAIN, errno);
                CHECK_EQ(0, client.call(PTSCHED_IOC_ACQUIRE, acquire));
                CHECK_EQ(0, client.call(PTSCHED_IOC_RELEASE, release));
                continue;
            }
            lost = answer.cmd == PTSCHED_BROKER_EVENT && answer.result == -ENOBUFS;
        }
    }
    check_clean();
}

TEST("without descriptors left, connections are turned away and later taken again")
{
    rlimit before, tight;
    CHECK_EQ(0, prlimit(broker_pid(), RLIMIT_NOFILE, nullptr, &before));
    tight = before;
    tight.rlim_cur = idle_descriptors + 10;
    CHECK_EQ(0, prlimit(broker_pid(), RLIMIT_NOFILE, &tight, nullptr));
    {
        std::vector<ptsched::UniqueFd> many;
        for (int i = 0; i < 50; i++)
            many.push_back(genl::connect_to(socket_path()));
        /* The last one is hung up on. */
        pollfd poll_for{.fd = many.back().get(), .events = POLLIN, .revents = 0};
        CHECK_EQ(1, poll(&poll_for, 1, -1));
        CHECK(poll_for.revents & POLLHUP);
    }
    CHECK_EQ(0, prlimit(broker_pid(), RLIMIT_NOFILE, &before, nullptr));
    check_clean();
}

/* A sanitizer's own memory knows no such limit. */
#ifndef PTSCHED_TEST_SANITIZED
constexpr std::size_t kSomeMemory = 256 * 1024;

/* Once the broker has read all that was sent, or hung up. */
bool was_hung_up_on(int socket)
{
    /* A request without a structure, which is refused. */
    auto header = header_of(PTSCHED_IOC_QUERY, 0, 1);
    if (send(socket, &header, sizeof(header), MSG_NOSIGNAL) < 0)
        return true;
    pollfd poll_for{.fd = socket, .events = POLLIN, .revents = 0};
    while (poll(&poll_for, 1, -1) != 1)
        continue;
    char answer[PTSCHED_BROKER_MAX_MESSAGE];
    return recv(socket, answer, sizeof(answer), MSG_DONTWAIT) <= 0;
}

std::size_t broker_memory()
{
    std::size_t pages = 0;
    std::ifstream("/proc/" + std::to_string(broker_pid()) + "/statm") >> pages;
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST("without memory left, who asks for more is hung up on, and the others are served")
{
    {
        RawClient client;
        CHECK_EQ(0, client.attach(kDevice));
        Actor holder;
        CHECK_EQ(0, holder.open(kOtherDevice));
        CHECK_EQ(0, holder.acquire().result);
        std::vector<RawClient> greedy(50);
        for (RawClient &one : greedy)
            CHECK_EQ(0, one.attach(kOtherDevice));

        rlimit before, tight;
        CHECK_EQ(0, prlimit(broker_pid(), RLIMIT_AS, nullptr, &before));
        tight = before;
        /* Its stack may still grow a little. */
        tight.rlim_cur = broker_memory() + kSomeMemory;
        CHECK_EQ(0, prlimit(broker_pid(), RLIMIT_AS, &tight, nullptr));
        unsigned calls = 0;
        bool refused = false;
        for (auto one = greedy.begin(); one != greedy.end() && !refused; ++one) {
            for (std::uint64_t id = 1; id < PTSCHED_BROKER_MAX_CALLS && send_acquire(one->fd(), id) == 0; id++)
                calls++;
            refused = was_hung_up_on(one->fd());
        }
        CHECK(refused);
        printf("# %u calls were taken\n", calls);
        /* What it gave back is enough for small things, not for ever more of those that are bigger. */
        std::vector<ptsched::UniqueFd> many;
        do {
            CHECK(many.size() < 900);
            many.push_back(genl::connect_to(socket_path()));
        } while (!was_hung_up_on(many.back().get()));
        printf("# %zu connections were made\n", many.size());
        CHECK_EQ(0, prlimit(broker_pid(), RLIMIT_AS, &before, nullptr));

        struct ptsched_acquire acquire {};
        acquire.size = sizeof(acquire);
        acquire.deadline_ns = PTSCHED_NEVER;
        CHECK_EQ(0, client.call(PTSCHED_IOC_ACQUIRE, acquire));
    }
    check_clean();
}
#endif

} // namespace

int main(int argc, char **argv)
{
    setvbuf(stdout, nullptr, _IOLBF, 0);
    seed = std::random_device()();
    if (argc == 3 && !strcmp(argv[1], "--seed")) {
        seed = strtoull(argv[2], nullptr, 0);
    } else if (argc != 1) {
        fputs("usage: hostile-peers [--seed N]\n", stderr);
        return 2;
    }
    try {
        start_broker(default_broker());
        idle_descriptors = broker_descriptors();
        int status = tap::run("", reset_settings);
        stop_broker();
        return status;
    } catch (const std::exception &error) {
        printf("Bail out! %s\n", error.what());
        return 1;
    }
}
