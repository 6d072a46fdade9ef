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

/* Whose a part is to be at first: a node or a device, by its number. */
struct Home {
    unsigned who = 0;
    Range range;
};

/*
 * Ranges of whole records: of some it is said whose they are, others are everybody's. What is taken begins and ends at
 * borders of records. One thread at a time; a call that throws, which it does if the border's function does, has
 * changed nothing.
 */
class Pool {
public:
    enum class From { front, back };
    static constexpr unsigned everybody = ~0u;

    /* If @grid is not zero, what is cut ends at the first border at or after a multiple of it. */
    Pool(Border border, std::uint64_t grid) : border_(std::move(border)), grid_(grid) {}

    /* No part of it is in it yet. What is everybody's is one with its neighbours, what is one's own is not. */
    void add(const Range &range, unsigned who = everybody);
    /* As add(); but those parts of it that are in @homes are whose they are there. */
    void add(const Range &range, const std::vector<Home> &homes);
    /* What was @who's is everybody's. */
    void disown(unsigned who);

    std::uint64_t bytes() const { return bytes_; }
    std::uint64_t bytes_of(unsigned who) const;
    /*
     * About @bytes of what is @who's, at least a record or piece of the grid; none if there is nothing. It is not more
     * than @most, unless the first record or piece is: see whether it is. A small rest goes
     * with it.
     */
    std::optional<Range> take(unsigned who, std::uint64_t bytes, From from, std::uint64_t most = ~std::uint64_t{0});

private:
    using Ranges = std::map<std::uint64_t, std::uint64_t>; /* begin and end */

    std::uint64_t cut_after(const Range &range, std::uint64_t bytes) const;
    std::uint64_t last_record(const Range &range, std::uint64_t before) const;
    std::uint64_t cut_before(const Range &range, std::uint64_t bytes) const;
    Range cut(const Range &range, std::uint64_t bytes, From from) const;

    Border border_;
    const std::uint64_t grid_;
    std::map<unsigned, Ranges> ranges_;
    std::map<unsigned, std::uint64_t> bytes_of_;
    std::uint64_t bytes_ = 0;
};

} // namespace ptsched::spmd::schedule

#endif /* PTSCHED_SPMD_SCHEDULE_POOL_HPP */
