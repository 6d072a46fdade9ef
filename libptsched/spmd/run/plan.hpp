/* SPDX-License-Identifier: MIT */
/* Which device of a node is to have how much, in blocks of what size. */
#ifndef PTSCHED_SPMD_RUN_PLAN_HPP
#define PTSCHED_SPMD_RUN_PLAN_HPP

#include "libptsched/spmd/run/engine.hpp"
#include "libptsched/spmd/run/member.hpp"
#include "libptsched/spmd/run/partition_map.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace ptsched::spmd {

struct Plan {
    std::vector<Mapper> mappers; /* the CPU first */
    bool dynamic = true;
    double rate = 0;               /* of the node, bytes per second; 0: not known */
    double guess = 0;              /* the same, in cores: for when one node does not know it */
    std::optional<double> model_p; /* what the model says, or measured rates, if a static split is by these */
    /* A kept job's blocks go where they were in its last run. */
    bool stays = false;
    /*
     * Of these, GPUs have what was theirs in one piece each: parts are what they are to be, as mappers have it, and
     * what a GPU has not yet comes to it. Moves: they are others than in the last run.
     */
    bool is_resident = false, moves = false;
    /* There are so many cores that the rank's own thread may use one to see at once what has ended. */
    bool looks = false;
    /* A static split needs rates that nobody has measured: the first part of the input is to show them. */
    bool probes = false;
};

bool has_cores_and_gpus(const Plan &plan);

/* The parts of so many, devices or ranks, in a kept job's last run. */
std::vector<double> parts_in(const std::vector<schedule::Home> &homes, std::size_t count);
/* How much longer the slowest one takes with such parts than all would with the best; 0: no longer. */
double lateness(const std::vector<double> &parts, const std::vector<double> &rates);

/* Of an ordered job: where blocks end, whoever has them. It depends on the job and its input alone. */
std::uint64_t grid_of(const Work &work);

/* Of a kept job's last run, each GPU has what was its part, in one piece for each partition. */
bool gpus_have_theirs(const Devices &devices);

/* As many as the job says, else what makes ranks ready at the same time: one that is alone has nobody to wait for. */
std::uint64_t partitions_of(const Work &work, unsigned ranks);

/*
 * For partitions of about @partition bytes, of one of @ranks: by the model where the job says its intensity and the
 * machine is known, else by the rates of an earlier run, else by a guess. Throws Error if none of the engines can run
 * the job, or if a static split has a share that nobody can have.
 */
Plan make_plan(const Work &work, const Devices &devices, const Known &known, std::uint64_t partition, unsigned ranks);

/*
 * The parts of a range of the input that are the devices', as their shares say, in their order: a core's are of the
 * size of its blocks, a GPU has one.
 */
std::vector<schedule::Home> homes_by_shares(const Plan &plan, const schedule::Range &range,
                                            const schedule::Border &border);

/* A static split by what was measured: bytes per second of each device. */
void share_by_rates(Plan &plan, const std::vector<double> &rates);
/* How much of a partition is enough to measure them. */
std::uint64_t probe_bytes(const Plan &plan, std::uint64_t partition);

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_RUN_PLAN_HPP */
