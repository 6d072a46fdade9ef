/* SPDX-License-Identifier: MIT */
/*
 * The system's calls that have to do with time: whatever of libraries, interposer and broker reads a clock, naps, or
 * waits with a limit does it here. A test links another definition than time_calls.cpp, whose time passes when the test
 * says so. For std::chrono there is chrono_clock.hpp, on top of this.
 */
#ifndef PTSCHED_BASE_TIME_CALLS_HPP
#define PTSCHED_BASE_TIME_CALLS_HPP

#include <atomic>
#include <cstdint>
#include <poll.h>
#include <sys/epoll.h>

namespace ptsched {

/* A wait that only its event ends. */
inline constexpr std::uint64_t kNoLimit = UINT64_MAX;

/* CLOCK_MONOTONIC, in nanoseconds. Nothing here looks at the time of day. */
std::uint64_t monotonic_ns();

/*
 * Sleeps for so long, and no longer than it takes to be woken: by default the kernel may add 50 us. Signals cut it
 * short.
 */
void nap(std::uint64_t ns);

/* poll(2), for so many nanoseconds at most. */
int poll_within(pollfd *fds, nfds_t count, std::uint64_t ns);

/* epoll_wait(2), for so many nanoseconds at most. */
int epoll_wait_within(int epoll, epoll_event *events, int most, std::uint64_t ns);

/* Until wake_waiters() where @word is no longer @value; for so long at most. It may return sooner. */
void wait_while(std::atomic<std::uint32_t> &word, std::uint32_t value, std::uint64_t ns);
/* Wakes all that wait for a change of @word, which the caller has made. */
void wake_waiters(std::atomic<std::uint32_t> &word);

} // namespace ptsched

#endif
