// SPDX-License-Identifier: MIT
#include "tests/fuzz/fuzz_clock.hpp"

#include "libptsched/base/time_calls.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr std::uint64_t kStart = 1000000000;

std::uint64_t now = kStart, limit = UINT64_MAX;
bool event;

/* A wait of so long that @ready events have ended before, or none has. */
int waited(int ready, std::uint64_t ns)
{
    event = ready > 0;
    if (ready != 0)
        return ready;
    const std::uint64_t end = ns > UINT64_MAX - now ? UINT64_MAX : now + ns;
    if (std::min(end, limit) == UINT64_MAX) {
        fputs("somebody waits for ever, and nothing will come\n", stderr);
        abort();
    }
    now = std::max(now, std::min(end, limit));
    return 0;
}

} // namespace

namespace fuzz_clock {

void reset()
{
    now = kStart;
    limit = UINT64_MAX;
}

std::uint64_t now_ns()
{
    return now;
}

void set_limit(std::uint64_t until_ns)
{
    limit = until_ns;
}

bool had_event()
{
    return event;
}

} // namespace fuzz_clock

namespace ptsched {

std::uint64_t monotonic_ns()
{
    return now;
}

void nap(std::uint64_t ns)
{
    waited(0, ns);
}

int poll_within(pollfd *fds, nfds_t count, std::uint64_t ns)
{
    return waited(poll(fds, count, 0), ns);
}

int epoll_wait_within(int epoll, epoll_event *events, int most, std::uint64_t ns)
{
    return waited(epoll_wait(epoll, events, most, 0), ns);
}

void wait_while(std::atomic<std::uint32_t> &word, std::uint32_t value, std::uint64_t ns)
{
    if (word == value)
        waited(0, ns);
}

void wake_waiters(std::atomic<std::uint32_t> &) {}

} // namespace ptsched
