/* SPDX-License-Identifier: MIT */
#ifndef SAMPLES_POOL_NEIGHBOURS_MEASURE_HPP
#define SAMPLES_POOL_NEIGHBOURS_MEASURE_HPP

#include "samples/common/program.hpp"

namespace ptsched::neighbours {

/* Whether those found are the nearest. Throws device::Error if they are not. */
void check(device::Device &gpu, const samples::Settings &settings);
/* How long it takes to find them, with the host's part beside the device's, and after it. */
void measure(device::Device &gpu, const samples::Settings &settings, samples::Report &report);

} // namespace ptsched::neighbours

#endif /* SAMPLES_POOL_NEIGHBOURS_MEASURE_HPP */
