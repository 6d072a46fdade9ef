/* SPDX-License-Identifier: MIT */
#ifndef SAMPLES_POOL_IRREGULAR_MEASURE_HPP
#define SAMPLES_POOL_IRREGULAR_MEASURE_HPP

#include "samples/common/program.hpp"

namespace ptsched::irregular {

/* Whether a small tree is searched as on the host. Throws device::Error if it is not. */
void check(device::Device &gpu, const samples::Settings &settings);
/* How long it takes, beside what one does with launches, for trees whose nodes differ more and more. */
void measure(device::Device &gpu, const samples::Settings &settings, samples::Report &report);

} // namespace ptsched::irregular

#endif /* SAMPLES_POOL_IRREGULAR_MEASURE_HPP */
