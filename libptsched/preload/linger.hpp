/* SPDX-License-Identifier: MIT */
/*
 * How long a program must have been idle before its turn goes to somebody who waits for it.
 *
 * Who comes back within the time that a hand-over and the way back take has made everybody wait for nothing. One that
 * does so, and need not wait for longer than that since it outweighs the others, is given the time that it was away;
 * when it stays away for longer, that shrinks again. (Rent or buy: the time lost is at most what the switch costs.)
 */
#ifndef PTSCHED_PRELOAD_LINGER_HPP
#define PTSCHED_PRELOAD_LINGER_HPP

#include <atomic>
#include <cstdint>

namespace ptsched::preload {

/* All times in ns; host time; @usual: what is waited at least. The agent calls left(), any thread the rest. */
class Linger {
public:
    std::uint64_t ns(std::uint64_t usual) const { return usual + extra_.load(std::memory_order_relaxed); }

    /* The turn was given back, after the program had been idle since then. */
    void left(std::uint64_t idle_since) { idle_since_.store(idle_since, std::memory_order_relaxed); }
    /* A thread asked for the turn at @asked, and had it at @got. */
    void came_back(std::uint64_t asked, std::uint64_t got, std::uint64_t usual);

private:
    std::atomic<std::uint64_t> idle_since_{0};
    std::atomic<std::uint64_t> extra_{0};
};

} // namespace ptsched::preload

#endif
