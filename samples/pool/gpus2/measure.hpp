/* SPDX-License-Identifier: MIT */
#ifndef SAMPLES_POOL_GPUS2_MEASURE_HPP
#define SAMPLES_POOL_GPUS2_MEASURE_HPP

#include "samples/common/program.hpp"

namespace ptsched::gpus2 {

struct Shape {
    unsigned gpus = 2;
    unsigned blocks = 0, depth = 2;
    unsigned size = 0; /* of the matrices; 0: of several, one after another */
};

/* Throws Error if a product is wrong. With fewer GPUs it says so and measures nothing. */
void run(const Shape &shape, const samples::Settings &settings, samples::Report &report);

} // namespace ptsched::gpus2

#endif /* SAMPLES_POOL_GPUS2_MEASURE_HPP */
