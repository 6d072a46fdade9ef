/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_SPMD_SCHEDULE_PARTS_HPP
#define PTSCHED_SPMD_SCHEDULE_PARTS_HPP

#include "libptsched/spmd/schedule/pool.hpp"

#include <vector>

namespace ptsched::spmd::schedule {

/*
 * A part of the range for each whose share is above zero, one behind the other; only ratios of shares count, of which
 * one is above zero. Parts end at borders, those at or after the nearest multiple of @grid if that is not zero; none is
 * empty.
 */
std::vector<Home> parts_by(const std::vector<double> &shares, const Range &range, const Border &border,
                           std::uint64_t grid = 0);

} // namespace ptsched::spmd::schedule

#endif /* PTSCHED_SPMD_SCHEDULE_PARTS_HPP */
