/* SPDX-License-Identifier: MIT */
#ifndef SAMPLES_POOL_GEMM64_MEASURE_HPP
#define SAMPLES_POOL_GEMM64_MEASURE_HPP

#include "samples/common/program.hpp"

namespace ptsched::gemm64 {

struct Shape {
    unsigned blocks = 0, depth = 2;
    unsigned products = 2; /* in a task */
};

/* Both precisions, and the smaller ratio. Throws Error if a result is wrong. */
void run(const Shape &shape, const samples::Settings &settings, samples::Report &report);

} // namespace ptsched::gemm64

#endif /* SAMPLES_POOL_GEMM64_MEASURE_HPP */
