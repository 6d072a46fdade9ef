/* SPDX-License-Identifier: MIT */
#ifndef SAMPLES_POOL_CHOLESKY_MEASURE_HPP
#define SAMPLES_POOL_CHOLESKY_MEASURE_HPP

#include "samples/common/program.hpp"

namespace ptsched::cholesky {

struct Shape {
    unsigned blocks = 0, depth = 2;
    unsigned rows = 0;    /* of the matrix; 0: of several, one after another */
    unsigned columns = 0; /* of tiles, by which others are updated at once; 0: as many as is usual */
};

/* Throws Error if a factor is wrong. */
void run(const Shape &shape, const samples::Settings &settings, samples::Report &report);

} // namespace ptsched::cholesky

#endif /* SAMPLES_POOL_CHOLESKY_MEASURE_HPP */
