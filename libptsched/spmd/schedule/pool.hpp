/* SPDX-License-Identifier: MIT */
/* Input that nobody has yet. */
#ifndef PTSCHED_SPMD_SCHEDULE_POOL_HPP
#define PTSCHED_SPMD_SCHEDULE_POOL_HPP

#include "libptsched/spmd/schedule/range.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace ptsched::spmd::schedule {

/* Whose that part is to be at first: a node or a device, by its number. */
struct Home {
    unsigned who = 0;
    Range range;
};

/*
 * Ranges of whole records, some of which are somebody's own, the rest everybody's. One that is taken begins and ends at
 * borders of records. One thread at a time; a call that throws, which it does if @border does, has changed nothing.
 */
class Pool {
public:
    enum class From { front, back };
    /* Not any one's. */
    static constexpr unsigned everybody = ~0u;

    /* If @grid is not zero, what is cut ends at the first border at or after a multiple of it. */
    Pool(Border border, std::uint64_t grid) : border_(std::move(border)), grid_(grid) {}

    /* No part of it is in it yet. */
    void add(const Range &range, unsigned who = everybody);
    /* As add(), but those parts of it that are in @homes are whose they are there. */
    void add(const Range &range, const std::vector<Home> &homes);
    /* What was @who's own is everybody's. */
    void disown(unsigned who);

    std::uint64_t bytes() const { return bytes_; }
    std::uint64_t bytes_of(unsigned who) const;
    /*
     * About @bytes of what is @who's, at least one record and no less than a piece of the grid; none if there is
     * nothing. A range that would leave a rest of less than half of @bytes has that, too.
     */
    std::optional<Range> take(unsigned who, std::uint64_t bytes, From from);

private:
    using Ranges = std::map<std::uint64_t, std::uint64_t>; /* begin and end; neighbours are one */

    std::uint64_t cut_after(const Range &range, std::uint64_t bytes) const;
    std::uint64_t cut_before(const Range &range, std::uint64_t bytes) const;

    Border border_;
    const std::uint64_t grid_;
    std::map<unsigned, Ranges> ranges_;
    std::map<unsigned, std::uint64_t> bytes_of_;
    std::uint64_t bytes_ = 0;
};

} // namespace ptsched::spmd::schedule

#endif /* PTSCHED_SPMD_SCHEDULE_POOL_HPP */
