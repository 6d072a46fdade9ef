/* SPDX-License-Identifier: MIT */
#ifndef SAMPLES_SPMD_KMEANS_SIZES_H
#define SAMPLES_SPMD_KMEANS_SIZES_H

namespace ptsched::samples::kmeans {

constexpr unsigned int dimensions = 16, clusters = 32;
constexpr unsigned int centre_floats = clusters * dimensions;
/* Of each cluster: the sums of its points in each dimension, and how many there are. */
constexpr unsigned int sum_floats = clusters * (dimensions + 1);
constexpr unsigned int threads = 128; /* of a thread block */

} // namespace ptsched::samples::kmeans

#endif /* SAMPLES_SPMD_KMEANS_SIZES_H */
