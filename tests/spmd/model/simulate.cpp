// SPDX-License-Identifier: MIT
/* Whole jobs on clusters that are made up; the simulator itself looks that each record has one result. */
#include "tests/spmd/model/cases.hpp"
#include "tools/ptsched-spmd-sim/cluster.hpp"

namespace test {
namespace {

using spmd_sim::Cluster;
using spmd_sim::Outcome;
using spmd_sim::simulate;

void test_all_ends()
{
    holds("each record has one result, with one master and with several, whatever happens to nodes", [] {
        Dice dice;
        Cluster cluster;
        cluster.nodes = static_cast<unsigned>(2 + dice.below(40));
        cluster.groups = static_cast<unsigned>(dice.below(2) * (1 + dice.below(cluster.nodes / 2)));
        cluster.seed = dice.below(1 << 30);
        cluster.seconds = 0.05;
        cluster.unequal = 0.1 * static_cast<double>(dice.below(8));
        cluster.rates_are_known = dice.below(2);
        cluster.stragglers = 0.1 * static_cast<double>(dice.below(4));
        /* A group all of whose nodes have failed is no job of its master's. */
        cluster.failures = cluster.groups ? 0 : 0.1 * static_cast<double>(dice.below(6));
        cluster.detection = 0.01;
        cluster.results_are_lost = dice.below(2);
        cluster.message = dice.below(2) ? 1e-6 : 1e-3;
        cluster.ahead = static_cast<unsigned>(dice.below(3));
        cluster.partitions = 1 + static_cast<double>(dice.below(9));
        cluster.equal_partitions = dice.below(2);
        cluster.copies = dice.below(2);
        cluster.splits = !dice.below(8);
        cluster.dynamic = dice.below(2);
        const Outcome outcome = simulate(cluster);
        RC_ASSERT(outcome.seconds > 0 && outcome.partitions >= 1);
        RC_ASSERT(outcome.messages >= outcome.partitions);
    });
}

/* One member of a group that fails is the group's affair. */
void test_groups_lose_members()
{
    Cluster cluster;
    cluster.nodes = 256;
    cluster.groups = 4;
    cluster.failures = 0.05;
    for (cluster.seed = 1; cluster.seed < 6; cluster.seed++)
        for (const bool lost : {false, true}) {
            cluster.results_are_lost = lost;
            CHECK(simulate(cluster).efficiency > 0.5);
        }
}

/* Where one master has no time left, several have. */
void test_limit()
{
    Cluster cluster;
    cluster.nodes = 1024;
    cluster.seconds = 0.5;
    cluster.message = 3e-4;
    const Outcome one = simulate(cluster);
    cluster.groups = 32;
    const Outcome tree = simulate(cluster);
    CHECK(one.master_busy > 0.9 && one.efficiency < 0.5);
    CHECK(tree.master_busy < 0.7 && tree.efficiency > 1.5 * one.efficiency);
}

void test_against_paper()
{
    Cluster cluster;
    cluster.nodes = 128;
    cluster.unequal = 0.5;
    const double ours = simulate(cluster).efficiency;
    cluster.equal_partitions = true;
    CHECK(ours > 0.9 && ours > 1.5 * simulate(cluster).efficiency);

    Cluster slow;
    slow.nodes = 128;
    slow.stragglers = 0.02;
    const double copied = simulate(slow).efficiency;
    slow.copies = false;
    CHECK(copied > 1.5 * simulate(slow).efficiency);
}

void test_same()
{
    Cluster cluster;
    cluster.stragglers = cluster.failures = 0.05;
    cluster.unequal = 0.3;
    CHECK_EQ(simulate(cluster).seconds, simulate(cluster).seconds);
}

} // namespace

std::vector<tap::Case> simulate_cases()
{
    return {
        {"jobs on random clusters", test_all_ends},
        {"groups whose members fail", test_groups_lose_members},
        {"where one master is the limit", test_limit},
        {"rates and copies against equal partitions", test_against_paper},
        {"a simulation is the same each time", test_same},
    };
}

} // namespace test
