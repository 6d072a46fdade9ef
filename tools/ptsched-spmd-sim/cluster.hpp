/* SPDX-License-Identifier: MIT */
/* A job on a cluster that is made up, by the schedulers that libptsched/spmd has. */
#ifndef SPMD_SIM_CLUSTER_HPP
#define SPMD_SIM_CLUSTER_HPP

#include "libptsched/spmd/schedule/master.hpp"

#include <cstdint>
#include <vector>

namespace spmd_sim {

/* What is asked of a master. Times are seconds, sizes bytes. */
struct Cluster {
    unsigned nodes = 64;
    unsigned groups = 0; /* 0: one master; else each group has one, and there is one above them */
    double seconds = 1;  /* the job, if all nodes were busy all the time */
    std::uint64_t seed = 1;

    /* Nodes: the median rate, how unequal they are, and how much a partition's time varies (sigma of lognormals). */
    double rate = 1e9;
    double unequal = 0;
    double noise = 0.03;
    /* What of it the master knows at first: the rates as they are, or nothing. */
    bool rates_are_known = true;
    /* Nodes that are that much slower from some moment on, and that stand still. */
    double stragglers = 0, straggler_factor = 10;
    /* Nodes that fail in the job's time, and how long it takes until the master knows. */
    double failures = 0, detection = 0.05;
    bool results_are_lost = true;

    /* A master's time for a message, and a message's way. */
    double message = 10e-6, latency = 5e-6;
    /* Partitions that a node has in addition to the one it does: so it need not wait for the answer. */
    unsigned ahead = 1;
    /* Of each node. */
    double partitions = 2;
    /* As in the paper: all of the same size, none of them copied. */
    bool equal_partitions = false;
    bool copies = true;

    /* A node's time for a partition is that of a Split; else its bytes over its rate. */
    bool splits = false;
    bool dynamic = false;
    /* A GPU's part of a node's rate, and the factor by which what the model says of the GPU is wrong. */
    double gpu_part = 0.8, model_error = 1;
};

struct Outcome {
    double seconds = 0;
    double efficiency =
        0; /* the time in which all nodes would have done it that do not fail or become slow, over that */
    double master_busy = 0; /* part of the time; with groups, of the one that is busiest */
    std::uint64_t messages = 0, partitions = 0, copies = 0;
};

/* Throws std::logic_error if a record of the input has no result in the end, or more than one. */
Outcome simulate(const Cluster &cluster);

} // namespace spmd_sim

#endif /* SPMD_SIM_CLUSTER_HPP */
