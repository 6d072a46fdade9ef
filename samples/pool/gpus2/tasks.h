/* SPDX-License-Identifier: MIT */
/* Tiles of a large product, for the host's compiler and for that of kernels. */
#ifndef SAMPLES_POOL_GPUS2_TASKS_H
#define SAMPLES_POOL_GPUS2_TASKS_H

namespace gpus2 {

constexpr unsigned int tile = 128; /* rows and columns of what is a task */

/* c = a b of n x n floats, by rows. Each GPU has its own. */
struct Matrices {
    const float *a, *b;
    float *c;
    unsigned int n;
    unsigned int place; /* of the GPU */
};

struct Task {
    unsigned int row, column; /* of tiles */
    unsigned int place;       /* out: of the GPU in whose c the tile is */
    unsigned int unused;
};

} // namespace gpus2

#endif /* SAMPLES_POOL_GPUS2_TASKS_H */
