/* SPDX-License-Identifier: MIT */
/*
 * How long a program must have been idle before its turn goes to somebody who waits for it.
 *
 * Who comes back sooner than a hand-over and the way back take has made everybody wait for nothing, and who stays away
 * for long has kept the device idle until it left: to rent or to buy. The program lingers for as long as would have
 * cost least in its last absences. Only those count after which it had its turn at once, since it outweighs the others:
 * the others' turns are not to be had by waiting.
 */
#ifndef PTSCHED_BASE_LINGER_HPP
#define PTSCHED_BASE_LINGER_HPP

#include "libptsched/base/lock.hpp"

#include <array>
#include <atomic>
#include <cstdint>

namespace ptsched {

/*
 * All times in ns; host time; @usual: what is waited where nothing is known. The agent calls left(), any thread the
 * rest.
 */
class Linger {
public:
    std::uint64_t ns(std::uint64_t usual) const
    {
        std::uint64_t best = best_.load(std::memory_order_relaxed);
        return best ? best : usual;
    }

    /* The turn was given back, after the program had been idle since then. */
    void left(std::uint64_t idle_since) { idle_since_.store(idle_since, std::memory_order_relaxed); }
    /* A thread asked for the turn at @asked, and had it at @got. */
    void came_back(std::uint64_t asked, std::uint64_t got, std::uint64_t usual);

private:
    std::uint64_t cost_ns(std::uint64_t linger, std::uint64_t usual) const PTSCHED_REQUIRES(lock_);

    std::atomic<std::uint64_t> idle_since_{0};
    std::atomic<std::uint64_t> best_{0}; /* 0: not known yet */
    Mutex lock_;
    /* The last ones; 0: not known yet, taken for the usual. */
    std::array<std::uint64_t, 16> away_ PTSCHED_GUARDED_BY(lock_) = {};
    unsigned next_ PTSCHED_GUARDED_BY(lock_) = 0;
};

} // namespace ptsched

#endif
