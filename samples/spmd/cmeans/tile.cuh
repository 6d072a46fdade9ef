/* SPDX-License-Identifier: MIT */
/* What the kernels by hand and the device functions share: the arithmetic of a tile's points. */
#ifndef SAMPLES_SPMD_CMEANS_TILE_CUH
#define SAMPLES_SPMD_CMEANS_TILE_CUH

#include "samples/common/unrolled.cuh"
#include "samples/spmd/cmeans/sizes.h"

namespace ptsched::samples::cmeans {

/* So many of the sums does each thread keep: one after another, by all threads of the block. */
constexpr unsigned int sums_of_thread = (centre_floats + threads - 1) / threads;

/* How much each of the points belongs to each cluster, squared; by all threads of the block. */
__device__ inline void weigh(const float *own, const float *near, unsigned int here, float *weights)
{
    for (unsigned int i = threadIdx.x; i < clusters * tile; i += threads) {
        const float *const point = own + i % tile * (dimensions + 1), *const centre = near + i / tile * dimensions;
        float distance = 0;
        if (i % tile < here)
            for (unsigned int dimension = 0; dimension < dimensions; dimension++) {
                const float by = point[dimension] - centre[dimension];
                distance += by * by;
            }
        weights[i] = 1 / (distance + 1e-12f);
    }
    __syncthreads();
    if (threadIdx.x < tile) {
        float all = 0;
        for (unsigned int cluster = 0; cluster < clusters; cluster++)
            all += weights[cluster * tile + threadIdx.x];
        for (unsigned int cluster = 0; cluster < clusters; cluster++) {
            const float part = weights[cluster * tile + threadIdx.x] / all;
            weights[cluster * tile + threadIdx.x] = part * part;
        }
    }
}

/* Adds all of the points to what the thread sums. */
__device__ inline void add_tile(const float *own, const float *weights, unsigned int here,
                                float (&sums)[sums_of_thread], float &weight)
{
    UNROLLED
    for (unsigned int i = 0; i < sums_of_thread; i++) {
        const unsigned int at = i * threads + threadIdx.x;
        if (at < centre_floats)
            for (unsigned int point = 0; point < here; point++)
                sums[i] += weights[at / dimensions * tile + point] * own[point * (dimensions + 1) + at % dimensions];
    }
    if (threadIdx.x < clusters)
        for (unsigned int point = 0; point < here; point++)
            weight += weights[threadIdx.x * tile + point];
}

} // namespace ptsched::samples::cmeans

#endif /* SAMPLES_SPMD_CMEANS_TILE_CUH */
