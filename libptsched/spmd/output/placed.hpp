/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_SPMD_OUTPUT_PLACED_HPP
#define PTSCHED_SPMD_OUTPUT_PLACED_HPP

#include <ptsched/spmd/pairs.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ptsched::spmd {

/*
 * Results in memory of the program's, each where its key says: see Output::into. Threads may store at the same time
 * what has different keys.
 */
class Placed {
public:
    /* @memory stays. */
    Placed(std::span<std::byte> memory, std::size_t value_bytes) : memory_(memory), value_bytes_(value_bytes) {}

    /* Where values go that have @count keys from @first on; the caller writes them. Throws Error if they do not fit. */
    std::byte *room(std::uint64_t first, std::size_t count, std::size_t value_bytes);
    /* Of keys of 8 bytes. Throws Error likewise. */
    void store(const Pairs &pairs);
    /* Values for which there was room since it was called last. */
    std::uint64_t take_count() { return count_.exchange(0, std::memory_order_relaxed); }

private:
    const std::span<std::byte> memory_;
    const std::size_t value_bytes_;
    std::atomic<std::uint64_t> count_{0};
};

/* How many of the keys from @first on follow one another. */
std::size_t consecutive(std::span<const std::uint64_t> keys, std::size_t first);

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_OUTPUT_PLACED_HPP */
