/* SPDX-License-Identifier: MIT */
#ifndef SAMPLES_SPMD_CMEANS_SIZES_H
#define SAMPLES_SPMD_CMEANS_SIZES_H

namespace ptsched::samples::cmeans {

constexpr unsigned int dimensions = 100, clusters = 10;
constexpr unsigned int centre_floats = clusters * dimensions;
/* Of each cluster: the weighted sums of the points in each dimension, and of the weights. */
constexpr unsigned int sum_floats = clusters * (dimensions + 1);
constexpr unsigned int threads = 256, tile = 64; /* of a thread block; points that it has at once */

} // namespace ptsched::samples::cmeans

#endif /* SAMPLES_SPMD_CMEANS_SIZES_H */
