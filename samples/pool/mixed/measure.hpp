/* SPDX-License-Identifier: MIT */
#ifndef SAMPLES_POOL_MIXED_MEASURE_HPP
#define SAMPLES_POOL_MIXED_MEASURE_HPP

#include "samples/common/program.hpp"

namespace ptsched::mixed {

/* Whether both kinds come out right. Throws device::Error if they do not. */
void check(device::Device &gpu, const samples::Settings &settings);
/* How long both take in one pool, one after another, and in two streams. */
void measure(device::Device &gpu, const samples::Settings &settings, samples::Report &report);

} // namespace ptsched::mixed

#endif /* SAMPLES_POOL_MIXED_MEASURE_HPP */
