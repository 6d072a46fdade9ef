/* SPDX-License-Identifier: MIT */
/* What calls across cost. */
#ifndef SAMPLES_ARENA_CALLS_MEASURE_HPP
#define SAMPLES_ARENA_CALLS_MEASURE_HPP

#include "samples/common/program.hpp"
#include <ptsched/arena/call.hpp>

namespace ptsched::arena::bench {

using samples::Report;
using samples::Settings;

/* Whether calls come back as they are to. Throws Error if they do not. */
void check(device::Device &gpu, const Settings &settings);
/* What there is without: a launch, and a wait for its end. */
void measure_launches(device::Device &gpu, const Settings &settings, Report &report);
/* One call after another, to the GPU and from there. */
void measure_latency(device::Device &gpu, const Settings &settings, Report &report);
/* By many threads and blocks at once. Throws Error if a call is lost. */
void measure_many(device::Device &gpu, const Settings &settings, Report &report);

} // namespace ptsched::arena::bench

#endif /* SAMPLES_ARENA_CALLS_MEASURE_HPP */
