/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_SPMD_PAIRS_PAIR_RANGE_HPP
#define PTSCHED_SPMD_PAIRS_PAIR_RANGE_HPP

#include <ptsched/spmd/pairs.hpp>

namespace ptsched::spmd {

/* Some of what others have, which stays. */
struct PairRange {
    const Pairs &pairs;
    std::size_t first, count;
};

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_PAIRS_PAIR_RANGE_HPP */
