/* SPDX-License-Identifier: MIT */
/* Programs that share a GPU and have more to do than it can, until the contest is over. */
#ifndef PTSCHED_PAPER_CONTEST_HPP
#define PTSCHED_PAPER_CONTEST_HPP

#include "samples/ptask/paper/bench/bench.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace ptsched::paper {

/* Of each program. */
using Rates = std::vector<double>;

class Contest {
public:
    Contest() = default;
    virtual ~Contest() = default;
    Contest(const Contest &) = delete;
    Contest &operator=(const Contest &) = delete;

    /* Until the last program has completed so many more steps. */
    void wait_for(std::uint64_t steps) const;
    /* Steps in a second, as long as @pass takes. Throws Error if a program has failed. */
    Rates rates(const std::function<void()> &pass) const;

private:
    /* Steps that were completed so far. */
    virtual Rates counts() const = 0;
    virtual bool failed() const = 0;
    void check() const;
};

/*
 * A program for each of @priorities, all of which do the same: as graphs, with these or as they come; and by hand, in
 * streams of a priority each, which CUDA takes as an order, or of the same.
 */
std::unique_ptr<Contest> contest_of_graphs(const Bench &bench, const Workload &workload,
                                           const std::vector<int> &priorities, bool with_priorities);
std::unique_ptr<Contest> contest_by_hand(const Bench &bench, const Workload &workload,
                                         const std::vector<int> &priorities, bool with_priorities);

} // namespace ptsched::paper

#endif /* PTSCHED_PAPER_CONTEST_HPP */
