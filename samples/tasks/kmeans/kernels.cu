/* SPDX-License-Identifier: MIT */
#include "samples/common/unrolled.cuh"
#include "samples/tasks/kmeans/sizes.h"

using namespace ptsched::kmeans;

/*
 * Adds to @sums what samples bring to their nearest centres. They are by dimensions: all that so many samples have in
 * the first, and so on.
 */
extern "C" __global__ void __launch_bounds__(threads)
    assign(const float *samples, const float *centres, float *sums, unsigned int count)
{
    __shared__ float near[clusters * dimensions];
    __shared__ float own[sum_floats];
    for (unsigned int i = threadIdx.x; i < clusters * dimensions; i += threads)
        near[i] = centres[i];
    for (unsigned int i = threadIdx.x; i < sum_floats; i += threads)
        own[i] = 0;
    __syncthreads();

    const unsigned int first = blockIdx.x * threads * samples_of_thread + threadIdx.x;
    for (unsigned int at = 0; at < samples_of_thread; at++) {
        const unsigned int sample = first + at * threads;
        if (sample >= count)
            break;
        float place[dimensions];
        UNROLLED
        for (unsigned int i = 0; i < dimensions; i++)
            place[i] = samples[i * count + sample];
        unsigned int nearest = 0;
        float least = 3.0e38f;
        for (unsigned int cluster = 0; cluster < clusters; cluster++) {
            float distance = 0;
            UNROLLED
            for (unsigned int i = 0; i < dimensions; i++) {
                const float by = place[i] - near[cluster * dimensions + i];
                distance += by * by;
            }
            if (distance < least) {
                least = distance;
                nearest = cluster;
            }
        }
        UNROLLED
        for (unsigned int i = 0; i < dimensions; i++)
            atomicAdd(&own[nearest * (dimensions + 1) + i], place[i]);
        atomicAdd(&own[nearest * (dimensions + 1) + dimensions], 1.0f);
    }
    __syncthreads();
    for (unsigned int i = threadIdx.x; i < sum_floats; i += threads)
        atomicAdd(&sums[i], own[i]);
}

/* To the middle of what they have; those that have nothing stay. */
__device__ void move(const float *sums, float *centres)
{
    for (unsigned int i = threadIdx.x; i < clusters * dimensions; i += blockDim.x) {
        const unsigned int cluster = i / dimensions, dimension = i % dimensions;
        const float count = sums[cluster * (dimensions + 1) + dimensions];
        if (count > 0)
            centres[i] = sums[cluster * (dimensions + 1) + dimension] / count;
    }
}

extern "C" __global__ void move_centres(const float *sums, float *centres)
{
    move(sums, centres);
}

extern "C" __global__ void __launch_bounds__(sum_floats) move_centres_by_parts(Parts parts, float *centres)
{
    __shared__ float sums[sum_floats];
    for (unsigned int i = threadIdx.x; i < sum_floats; i += blockDim.x) {
        float sum = 0;
        for (unsigned int part = 0; part < parts.count; part++)
            sum += parts.sums[part][i];
        sums[i] = sum;
    }
    __syncthreads();
    move(sums, centres);
}
