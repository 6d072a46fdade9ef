/* SPDX-License-Identifier: MIT */
/*
 * K-means by Lloyd's iteration: samples go to their nearest centres, which then move to the middle of what they have.
 */
#ifndef SAMPLES_POOL_KMEANS_PROBLEM_H
#define SAMPLES_POOL_KMEANS_PROBLEM_H

namespace ptsched::kmeans {

constexpr unsigned int clusters = 128;
/* Samples of one task of the device, and how many threads it has. */
constexpr unsigned int tile_rows = 32, tile_threads = 256;
/* The dimensions of samples are a multiple of it. */
constexpr unsigned int tile_depth = 32;

using Cluster = unsigned char;

/* Samples and centres one after another, in the device's memory; so many samples that tiles have all their rows. */
struct Problem {
    const float *samples, *centres, *norms; /* norms: squares of the centres */
    unsigned int count, dimensions;
};

/* For which samples from @first on, and out: where they belong. On the host: they have come to that. */
struct Assign {
    const Problem *problem;
    unsigned int first, unused;
    Cluster nearest[tile_rows];
};

struct Update {
    unsigned int first, unused;
    Cluster nearest[tile_rows];
};

} // namespace ptsched::kmeans

#endif /* SAMPLES_POOL_KMEANS_PROBLEM_H */
