/* SPDX-License-Identifier: MIT */
#ifndef SAMPLES_POOL_KMEANS_MEASURE_HPP
#define SAMPLES_POOL_KMEANS_MEASURE_HPP

#include "samples/common/program.hpp"

namespace ptsched::kmeans {

/* Whether samples come to their nearest centres. Throws device::Error if they do not. */
void check(device::Device &gpu, const samples::Settings &settings);
/* How long iterations take, with the host's part beside the device's, and after it. */
void measure(device::Device &gpu, const samples::Settings &settings, samples::Report &report);

} // namespace ptsched::kmeans

#endif /* SAMPLES_POOL_KMEANS_MEASURE_HPP */
