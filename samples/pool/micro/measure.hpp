/* SPDX-License-Identifier: MIT */
/* The micro-benchmarks of CAGTP, section 4.1. */
#ifndef SAMPLES_POOL_MICRO_MEASURE_HPP
#define SAMPLES_POOL_MICRO_MEASURE_HPP

#include "samples/common/program.hpp"
#include <ptsched/pool.hpp>

namespace ptsched::pool::bench {

using samples::Report;
using samples::Settings;

/* Whether tasks come back as they were pushed. Throws Error if they do not. */
void check(device::Device &gpu, const Settings &settings);
/* What there is without a pool: launches of a kernel that does nothing. Returns nanoseconds for each. */
double measure_launches(device::Device &gpu, const Settings &settings, Report &report);
/* Tasks that do nothing, by their size (Fig. 8) and the number of blocks (Fig. 9). */
void measure_dispatch(device::Device &gpu, const Settings &settings, double launch_ns, Report &report);
/* From a push to the pop of the same task, in a pool that does nothing else. */
void measure_round_trips(device::Device &gpu, const Settings &settings, Report &report);
/* What a pool takes of the bus with nothing to do (Fig. 10). */
void measure_idle_bus(device::Device &gpu, const Settings &settings, Report &report);

} // namespace ptsched::pool::bench

#endif /* SAMPLES_POOL_MICRO_MEASURE_HPP */
