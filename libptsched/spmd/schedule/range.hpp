/* SPDX-License-Identifier: MIT */
/* Parts of a job's input. */
#ifndef PTSCHED_SPMD_SCHEDULE_RANGE_HPP
#define PTSCHED_SPMD_SCHEDULE_RANGE_HPP

#include <cstdint>
#include <functional>

namespace ptsched::spmd::schedule {

/* Bytes of the input, from its beginning. */
struct Range {
    std::uint64_t begin = 0, end = 0;

    std::uint64_t size() const { return end - begin; }
    bool empty() const { return begin == end; }
    friend bool operator==(const Range &, const Range &) = default;
};

/*
 * Where the first record begins at or after the byte @at; the end of the input if there is none. It says the same each
 * time, does not fall as @at grows, and has 0 and the end as borders. What it throws goes through who asks, whose state
 * then is as before.
 */
using Border = std::function<std::uint64_t(std::uint64_t at)>;

} // namespace ptsched::spmd::schedule

#endif /* PTSCHED_SPMD_SCHEDULE_RANGE_HPP */
