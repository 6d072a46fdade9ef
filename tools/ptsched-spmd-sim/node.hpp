/* SPDX-License-Identifier: MIT */
/* One node's partition, in blocks. */
#ifndef SPMD_SIM_NODE_HPP
#define SPMD_SIM_NODE_HPP

#include "libptsched/spmd/schedule/range.hpp"
#include "tools/ptsched-spmd-sim/cluster.hpp"
#include "tools/ptsim/random.hpp"

namespace spmd_sim {

/* Seconds that a node with @rate needs for @partition: 16 cores and a GPU with two streams. */
double time_of_split(const Cluster &cluster, double rate, const ptsched::spmd::schedule::Range &partition,
                     ptsim::Random &random);

} // namespace spmd_sim

#endif /* SPMD_SIM_NODE_HPP */
