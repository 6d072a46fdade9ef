/* SPDX-License-Identifier: MIT */
#include "samples/spmd/common/add_parts.cuh"
#include "samples/spmd/gmm/mixture.cuh"

using namespace ptsched::samples::gmm;

/*
 * What some points bring to the sums, as many parts as there are blocks: these take tiles of points by turns. Threads
 * compute densities at a tile's points, then responsibilities, and then each adds all points of the tile to its sums.
 */
extern "C" __global__ void __launch_bounds__(threads)
    add_points(const float *points, const float *model, float *parts, unsigned int count)
{
    __shared__ float own_model[model_floats];
    __shared__ float own[tile * row];
    __shared__ float weights[components * tile];
    float sums[sums_of_thread];
    unsigned int one[sums_of_thread], other[sums_of_thread];
    UNROLLED
    for (unsigned int i = 0; i < sums_of_thread; i++) {
        sums[i] = 0;
        factors_of((i * threads + threadIdx.x) % component_sums, &one[i], &other[i]);
    }
    for (unsigned int i = threadIdx.x; i < model_floats; i += threads)
        own_model[i] = model[i];
    for (unsigned int i = threadIdx.x; i < tile; i += threads)
        own[i * row] = 1;

    for (unsigned int first = blockIdx.x * tile; first < count; first += gridDim.x * tile) {
        const unsigned int here = count - first < tile ? count - first : tile;
        for (unsigned int i = threadIdx.x; i < here * dimensions; i += threads)
            own[i / dimensions * row + 1 + i % dimensions] =
                points[static_cast<unsigned long long>(first) * dimensions + i];
        __syncthreads();
        add_tile(own, own_model, here, weights, one, other, sums);
        __syncthreads();
    }
    UNROLLED
    for (unsigned int i = 0; i < sums_of_thread; i++)
        if (i * threads + threadIdx.x < sum_floats)
            parts[blockIdx.x * sum_floats + i * threads + threadIdx.x] = sums[i];
}

extern "C" __global__ void add_parts(const float *parts, double *sums, unsigned int count)
{
    ptsched::samples::add_parts_of<sum_floats>(parts, sums, count);
}
