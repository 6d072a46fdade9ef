// SPDX-License-Identifier: MIT
/* What a cluster is like, and what came of a job on it. */
#include "tools/ptsched-spmd-sim/cluster.hpp"

#include "tools/ptsched-spmd-sim/job.hpp"
#include "tools/ptsim/random.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace spmd_sim {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/* So many of all, whichever. */
std::vector<unsigned> some_of(unsigned nodes, double part, ptsim::Random &random)
{
    std::vector<unsigned> all(nodes);
    std::iota(all.begin(), all.end(), 0u);
    const auto count = static_cast<unsigned>(std::lround(part * nodes));
    for (unsigned i = 0; i < count && i + 1 < nodes; i++)
        std::swap(all[i], all[i + random.below(nodes - i)]);
    all.resize(std::min(count, nodes - 1));
    return all;
}

} // namespace

std::vector<NodeFate> fates_of(const Cluster &cluster)
{
    ptsim::Random random(cluster.seed);
    std::vector<NodeFate> fates(cluster.nodes);
    for (NodeFate &fate : fates)
        fate = {cluster.rate * random.lognormal(1, cluster.unequal), never, never};
    for (const unsigned node : some_of(cluster.nodes, cluster.stragglers, random))
        fates[node].slow_from = cluster.seconds * random.unit();
    for (const unsigned node : some_of(cluster.nodes, cluster.failures, random))
        fates[node].fails_at = cluster.seconds * random.unit();
    return fates;
}

Outcome simulate(const Cluster &cluster)
{
    return Job(cluster, fates_of(cluster)).run();
}

} // namespace spmd_sim
