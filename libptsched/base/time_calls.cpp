// SPDX-License-Identifier: MIT
#include "libptsched/base/time_calls.hpp"

#include <cerrno>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ptsched {
namespace {

constexpr std::uint64_t kSecond = 1000000000;

timespec to_timespec(std::uint64_t ns)
{
    return {static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)};
}

} // namespace

std::uint64_t monotonic_ns()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * kSecond + static_cast<std::uint64_t>(now.tv_nsec);
}

void nap(std::uint64_t ns)
{
    int slack = prctl(PR_GET_TIMERSLACK);
    timespec time = to_timespec(ns);
    prctl(PR_SET_TIMERSLACK, 1000);
    nanosleep(&time, nullptr);
    if (slack > 0)
        prctl(PR_SET_TIMERSLACK, slack);
}

int poll_within(pollfd *fds, nfds_t count, std::uint64_t ns)
{
    timespec time = to_timespec(ns);
    return ppoll(fds, count, ns == kNoLimit ? nullptr : &time, nullptr);
}

int epoll_wait_within(int epoll, epoll_event *events, int most, std::uint64_t ns)
{
    timespec time = to_timespec(ns);
    long count = syscall(SYS_epoll_pwait2, epoll, events, most, ns == kNoLimit ? nullptr : &time, nullptr, 0);
    if (count >= 0 || errno != ENOSYS)
        return static_cast<int>(count);
    /* Before Linux 5.11 it knows milliseconds only. */
    pollfd all{.fd = epoll, .events = POLLIN, .revents = 0};
    int ready = poll_within(&all, 1, ns);
    return ready > 0 ? epoll_wait(epoll, events, most, 0) : ready;
}

void wait_while(std::atomic<std::uint32_t> &word, std::uint32_t value, std::uint64_t ns)
{
    timespec time = to_timespec(ns);
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, ns == kNoLimit ? nullptr : &time, nullptr, 0);
}

void wake_waiters(std::atomic<std::uint32_t> &word)
{
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

} // namespace ptsched
