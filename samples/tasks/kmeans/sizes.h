/* SPDX-License-Identifier: MIT */
#ifndef SAMPLES_TASKS_KMEANS_SIZES_H
#define SAMPLES_TASKS_KMEANS_SIZES_H

namespace ptsched::kmeans {

constexpr unsigned int dimensions = 16, clusters = 32;
constexpr unsigned int threads = 128; /* of a thread block */
constexpr unsigned int samples_of_thread = 8;
/* Of each cluster: the sums of its samples in each dimension, and how many there are. */
constexpr unsigned int sum_floats = clusters * (dimensions + 1);

/* The sums of each block of samples. */
struct Parts {
    static constexpr unsigned int most = 64;
    const float *sums[most];
    unsigned int count;
};

} // namespace ptsched::kmeans

#endif /* SAMPLES_TASKS_KMEANS_SIZES_H */
