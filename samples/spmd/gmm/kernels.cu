/* SPDX-License-Identifier: MIT */
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
        for (unsigned int i = threadIdx.x; i < components * tile; i += threads)
            if (i % tile < here)
                weights[i] = log_density(own + i % tile * row + 1, own_model + i / tile * component_floats);
        __syncthreads();
        if (threadIdx.x < here)
            share_out(weights, threadIdx.x);
        __syncthreads();
        UNROLLED
        for (unsigned int i = 0; i < sums_of_thread; i++) {
            const unsigned int at = i * threads + threadIdx.x;
            if (at < sum_floats) {
                const float *const weight = weights + at / component_sums * tile;
                for (unsigned int point = 0; point < here; point++)
                    sums[i] += weight[point] * own[point * row + one[i]] * own[point * row + other[i]];
            }
        }
        __syncthreads();
    }
    UNROLLED
    for (unsigned int i = 0; i < sums_of_thread; i++)
        if (i * threads + threadIdx.x < sum_floats)
            parts[blockIdx.x * sum_floats + i * threads + threadIdx.x] = sums[i];
}

extern "C" __global__ void add_parts(const float *parts, double *sums, unsigned int count)
{
    const unsigned int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= sum_floats)
        return;
    double sums_of_some[8] = {}; /* so that as many loads are under way */
    for (unsigned int first = 0; first < count; first += 8) {
        UNROLLED
        for (unsigned int i = 0; i < 8; i++)
            sums_of_some[i] += first + i < count ? parts[(first + i) * sum_floats + at] : 0;
    }
    double sum = 0;
    UNROLLED
    for (unsigned int i = 0; i < 8; i++)
        sum += sums_of_some[i];
    sums[at] = sum;
}
