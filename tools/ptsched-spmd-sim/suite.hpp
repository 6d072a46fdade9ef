/* SPDX-License-Identifier: MIT */
/* What is simulated for the report. */
#ifndef SPMD_SIM_SUITE_HPP
#define SPMD_SIM_SUITE_HPP

#include "tools/ptsched-spmd-sim/cluster.hpp"

#include <functional>
#include <string>
#include <vector>

namespace spmd_sim {

/* One way of doing it: a line in a plot. */
struct Way {
    std::string name, title;
    std::function<void(Cluster &)> set;
};

/* Something that varies, and what is compared. */
struct Sweep {
    std::string name, title, axis;
    bool logarithmic;
    std::vector<double> values;
    Cluster cluster;
    std::function<void(Cluster &, double)> set;
    std::vector<Way> ways;
};

/* @nodes: at most, in the sweep of the number of nodes; others have a fourth, but 1024 at most. */
std::vector<Sweep> sweeps(unsigned nodes, std::uint64_t seed);

} // namespace spmd_sim

#endif /* SPMD_SIM_SUITE_HPP */
