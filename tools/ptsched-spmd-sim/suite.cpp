// SPDX-License-Identifier: MIT
#include "tools/ptsched-spmd-sim/suite.hpp"

#include <algorithm>
#include <cmath>

namespace spmd_sim {

namespace {

/* As many groups as each has members. */
unsigned groups_of(unsigned nodes)
{
    return static_cast<unsigned>(std::lround(std::sqrt(nodes)));
}

const Way paper{"paper", "equal partitions, twice as many as nodes", [](Cluster &cluster) {
                    cluster.equal_partitions = true;
                    cluster.copies = false;
                    cluster.ahead = 0;
                }};
const Way flat{"one", "one master", [](Cluster &) {}};
const Way tree{"tree", "masters in a tree", [](Cluster &cluster) { cluster.groups = groups_of(cluster.nodes); }};

Sweep scale(unsigned nodes)
{
    Sweep sweep{"scale", "0.25 s of work, 10 us a message", "nodes", true, {}, {}, {}, {paper, flat, tree}};
    sweep.cluster.seconds = 0.25;
    for (unsigned n = 16; n <= nodes; n *= 2)
        sweep.values.push_back(n);
    sweep.set = [](Cluster &cluster, double n) { cluster.nodes = static_cast<unsigned>(n); };
    return sweep;
}

Sweep message()
{
    Sweep sweep{"message", "a master's time for a message, 1 s of work", "us", true, {}, {}, {}, {paper, flat, tree}};
    sweep.values = {1, 3, 10, 30, 100, 300, 1000};
    sweep.set = [](Cluster &cluster, double us) { cluster.message = us * 1e-6; };
    return sweep;
}

Sweep unequal()
{
    Sweep sweep{"unequal", "unequal nodes", "sigma of the logarithms of their rates", false, {}, {}, {}, {}};
    sweep.values = {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8};
    sweep.set = [](Cluster &cluster, double sigma) { cluster.unequal = sigma; };
    const auto unknown = [](Cluster &cluster) { cluster.rates_are_known = false; };
    sweep.ways = {paper,
                  {"unknown", "rates unknown at first", unknown},
                  {"unknown-8", "the same, 8 for each node",
                   [](Cluster &cluster) {
                       cluster.rates_are_known = false;
                       cluster.partitions = 8;
                   }},
                  {"known", "rates measured before", [](Cluster &) {}}};
    return sweep;
}

Sweep stragglers()
{
    Sweep sweep{"stragglers", "nodes that become 10 times slower", "part of all", false, {}, {}, {}, {}};
    sweep.values = {0, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05};
    sweep.set = [](Cluster &cluster, double part) { cluster.stragglers = part; };
    sweep.ways = {paper,
                  {"no-copies", "sizes by rates, no copies", [](Cluster &cluster) { cluster.copies = false; }},
                  {"copies", "copies of what is late", [](Cluster &) {}},
                  {"copies-8", "the same, 8 for each node", [](Cluster &cluster) { cluster.partitions = 8; }}};
    return sweep;
}

Sweep failures()
{
    Sweep sweep{"failures", "nodes that fail, with their results", "part of all", false, {}, {}, {}, {}};
    sweep.values = {0, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05};
    sweep.set = [](Cluster &cluster, double part) { cluster.failures = part; };
    sweep.ways = {paper, flat, tree, {"kept", "one master, results are kept elsewhere", [](Cluster &cluster) {
                                          cluster.results_are_lost = false;
                                      }}};
    return sweep;
}

Sweep model()
{
    Sweep sweep{"model", "CPU and GPU of each node", "the model's GPU rate over the actual one", true, {}, {}, {}, {}};
    sweep.values = {0.25, 0.5, 0.7, 0.85, 1, 1.2, 1.4, 2, 4};
    sweep.cluster.splits = true;
    sweep.cluster.seconds = 4;
    sweep.set = [](Cluster &cluster, double error) { cluster.model_error = error; };
    sweep.ways = {{"static", "static", [](Cluster &) {}},
                  {"dynamic", "dynamic", [](Cluster &cluster) { cluster.dynamic = true; }}};
    return sweep;
}

} // namespace

std::vector<Sweep> sweeps(unsigned nodes, std::uint64_t seed)
{
    std::vector<Sweep> all{scale(nodes), message(), unequal(), stragglers(), failures(), model()};
    for (Sweep &sweep : all) {
        sweep.cluster.nodes = std::clamp(nodes / 4, 2u, 1024u);
        sweep.cluster.seed = seed;
    }
    return all;
}

} // namespace spmd_sim
