/* SPDX-License-Identifier: MIT */
/* Pairs of several threads that are combined as they come. */
#ifndef PTSCHED_SPMD_PAIRS_SHARED_TABLE_HPP
#define PTSCHED_SPMD_PAIRS_SHARED_TABLE_HPP

#include "libptsched/base/lock.hpp"
#include "libptsched/spmd/pairs/pair_range.hpp"
#include "libptsched/spmd/pairs/table.hpp"

#include <deque>

namespace ptsched::spmd {

/*
 * Each key has its place in one of several tables, so that nothing is there twice, and threads are seldom in the same
 * one. Thread-safe.
 */
class SharedTable {
public:
    /* @program, which combines, outlives it. At least so many tables, for as many threads. */
    SharedTable(const Program &program, unsigned threads);

    /*
     * Some pairs, by one of the threads, of which each begins with another table. Those that have more than @most bytes
     * then are emptied: what they had is returned.
     */
    Pairs add(const PairRange &some, unsigned thread, std::size_t most);
    unsigned tables() const { return static_cast<unsigned>(parts_.size()); }
    std::size_t size(unsigned table) const;
    /* All of it, in any order; it is empty then. */
    Pairs take(unsigned table);

private:
    /* Which of the pairs go to which table. */
    struct Order {
        std::vector<std::uint32_t> places; /* from the first of the range on, table by table */
        std::vector<std::uint32_t> begins; /* of each table's there, and the end */
    };
    Order order_of(const PairRange &some) const;

    struct Part {
        explicit Part(const Program &program) : table(program) {}
        mutable Mutex mutex = {};
        Table table PTSCHED_GUARDED_BY(mutex);
    };

    const Program &program_;
    std::deque<Part> parts_;
};

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_PAIRS_SHARED_TABLE_HPP */
