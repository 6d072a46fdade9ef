/* SPDX-License-Identifier: MIT */
#include "samples/common/unrolled.cuh"
#include "samples/spmd/common/add_parts.cuh"
#include "samples/spmd/kmeans/sizes.h"

using namespace ptsched::samples::kmeans;

__device__ inline unsigned int nearest_of(const float *place, const float *centres)
{
    unsigned int nearest = 0;
    float least = 3e38f;
    for (unsigned int cluster = 0; cluster < clusters; cluster++) {
        float distance = 0;
        UNROLLED
        for (unsigned int i = 0; i < dimensions; i++) {
            const float by = place[i] - centres[cluster * dimensions + i];
            distance += by * by;
        }
        if (distance < least) {
            least = distance;
            nearest = cluster;
        }
    }
    return nearest;
}

/* What some points bring to the sums, as many parts as there are blocks: a thread for each point. */
extern "C" __global__ void __launch_bounds__(threads)
    add_points(const float *points, const float *centres, float *parts, unsigned int count)
{
    __shared__ float near[centre_floats];
    __shared__ float own[sum_floats];
    for (unsigned int i = threadIdx.x; i < centre_floats; i += threads)
        near[i] = centres[i];
    for (unsigned int i = threadIdx.x; i < sum_floats; i += threads)
        own[i] = 0;
    __syncthreads();

    for (unsigned int point = blockIdx.x * threads + threadIdx.x; point < count; point += gridDim.x * threads) {
        float place[dimensions];
        const float4 *const from =
            reinterpret_cast<const float4 *>(points + static_cast<unsigned long long>(point) * dimensions);
        UNROLLED
        for (unsigned int i = 0; i < dimensions; i += 4) {
            const float4 some = from[i / 4];
            place[i] = some.x;
            place[i + 1] = some.y;
            place[i + 2] = some.z;
            place[i + 3] = some.w;
        }
        float *const sums = own + nearest_of(place, near) * (dimensions + 1);
        UNROLLED
        for (unsigned int i = 0; i < dimensions; i++)
            atomicAdd(&sums[i], place[i]);
        atomicAdd(&sums[dimensions], 1.0f);
    }
    __syncthreads();
    for (unsigned int i = threadIdx.x; i < sum_floats; i += threads)
        parts[blockIdx.x * sum_floats + i] = own[i];
}

extern "C" __global__ void add_parts(const float *parts, double *sums, unsigned int count)
{
    ptsched::samples::add_parts_of<sum_floats>(parts, sums, count);
}
