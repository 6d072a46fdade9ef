/* SPDX-License-Identifier: MIT */
/* How much a pool is in the way of others, and scheduling in its. */
#ifndef SAMPLES_POOL_CITIZEN_MEASURE_HPP
#define SAMPLES_POOL_CITIZEN_MEASURE_HPP

#include "samples/common/program.hpp"
#include "samples/pool/citizen/roles.hpp"
#include "samples/pool/citizen/scheduler.hpp"

namespace ptsched::pool::bench {

using samples::Report;
using samples::Settings;

struct Setup {
    const Settings &settings;
    device::Device &gpu;
    Scheduler &scheduler;
    Size size;
    unsigned steps; /* of a task of 20 us */
    /* Where nothing is measured all are equal: on a busy machine, the lightest would have no processor. */
    std::optional<int> nice(int value) const { return settings.check ? std::nullopt : std::optional(value); }
};

/* From when another asks for the device until the pool has left it; and that nothing is lost by it. */
void measure_parks(const Setup &setup, Report &report);
/*
 * An important loop of 60 us kernels beside a pool that is never idle: one that leaves when it is called back, or one
 * that the interposer takes off. Relative to the loop alone and bare.
 */
void measure_loop(const Setup &setup, bool attaches, Report &report);
/* A full pool beside nobody: what it does as a client of the scheduler, relative to what it does as none. */
void measure_attached(const Setup &setup, Report &report);

} // namespace ptsched::pool::bench

#endif /* SAMPLES_POOL_CITIZEN_MEASURE_HPP */
