/* SPDX-License-Identifier: MIT */
#include "samples/spmd/cmeans/tile.cuh"
#include "samples/spmd/common/add_parts.cuh"

using namespace ptsched::samples::cmeans;

/*
 * What some points bring to the sums, as many parts as there are blocks: these take tiles of points by turns. Threads
 * compute distances of a tile's points, then weights, and then each adds all points of the tile to its own sums.
 */
extern "C" __global__ void __launch_bounds__(threads)
    add_points(const float *points, const float *centres, float *parts, unsigned int count)
{
    __shared__ float near[centre_floats];
    __shared__ float own[tile * (dimensions + 1)]; /* a column more: threads of a warp read different banks */
    __shared__ float weights[clusters * tile];
    float sums[sums_of_thread], weight = 0;
    UNROLLED
    for (unsigned int i = 0; i < sums_of_thread; i++)
        sums[i] = 0;
    for (unsigned int i = threadIdx.x; i < centre_floats; i += threads)
        near[i] = centres[i];

    for (unsigned int first = blockIdx.x * tile; first < count; first += gridDim.x * tile) {
        const unsigned int here = count - first < tile ? count - first : tile;
        for (unsigned int i = threadIdx.x; i < here * dimensions; i += threads)
            own[i / dimensions * (dimensions + 1) + i % dimensions] =
                points[static_cast<unsigned long long>(first) * dimensions + i];
        __syncthreads();
        weigh(own, near, here, weights);
        __syncthreads();
        add_tile(own, weights, here, sums, weight);
        __syncthreads();
    }
    float *const part = parts + blockIdx.x * sum_floats;
    UNROLLED
    for (unsigned int i = 0; i < sums_of_thread; i++) {
        const unsigned int at = i * threads + threadIdx.x;
        if (at < centre_floats)
            part[at / dimensions * (dimensions + 1) + at % dimensions] = sums[i];
    }
    if (threadIdx.x < clusters)
        part[threadIdx.x * (dimensions + 1) + dimensions] = weight;
}

extern "C" __global__ void add_parts(const float *parts, double *sums, unsigned int count)
{
    ptsched::samples::add_parts_of<sum_floats>(parts, sums, count);
}
