/* SPDX-License-Identifier: MIT */
/* For how long something has gone on, which one thread says and any may ask. */
#ifndef PTSCHED_POOL_STOPWATCH_HPP
#define PTSCHED_POOL_STOPWATCH_HPP

#include <ptsched/base/chrono_clock.hpp>

#include <atomic>
#include <cstdint>

namespace ptsched::pool {

class Stopwatch {
public:
    /* Whether it goes on, from now on. By one thread at a time, which looks at the clock only if that is new. */
    void set(bool runs)
    {
        const std::int64_t word = word_.load(std::memory_order_relaxed);
        if (runs == is_running(word))
            return;
        const std::int64_t now = now_ns();
        word_.store(runs ? (word / 2 - now) * 2 + 1 : ((word - 1) / 2 + now) * 2, std::memory_order_relaxed);
    }

    /* In nanoseconds, all times together; less by an instant than before, where it has been stopped meanwhile. */
    std::uint64_t read() const
    {
        const std::int64_t word = word_.load(std::memory_order_relaxed);
        return static_cast<std::uint64_t>(is_running(word) ? (word - 1) / 2 + now_ns() : word / 2);
    }

private:
    static bool is_running(std::int64_t word) { return word & 1; }
    static std::int64_t now_ns()
    {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
    }

    /* Twice the time; while it runs, twice the time less the instant at which it began, and 1: read whole. */
    std::atomic<std::int64_t> word_{0};
};

} // namespace ptsched::pool

#endif /* PTSCHED_POOL_STOPWATCH_HPP */
