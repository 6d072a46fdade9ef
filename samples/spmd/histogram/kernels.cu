/* SPDX-License-Identifier: MIT */
#include "samples/spmd/histogram/sizes.h"

using namespace ptsched::samples::histogram;

constexpr unsigned int warps = threads / 32;

/* Adds to @counts how many numbers are in each bin. Warps count for themselves first. */
extern "C" __global__ void __launch_bounds__(threads)
    count_numbers(const unsigned int *numbers, unsigned long long *counts, unsigned int many)
{
    __shared__ unsigned int own[warps * bins];
    for (unsigned int i = threadIdx.x; i < warps * bins; i += threads)
        own[i] = 0;
    __syncthreads();
    unsigned int *const mine = own + threadIdx.x / 32 * bins;
    const unsigned int fours = many / 4, begin = blockIdx.x * threads + threadIdx.x;
    for (unsigned int i = begin; i < fours; i += gridDim.x * threads) {
        const uint4 some = reinterpret_cast<const uint4 *>(numbers)[i];
        atomicAdd(&mine[some.x >> shift], 1);
        atomicAdd(&mine[some.y >> shift], 1);
        atomicAdd(&mine[some.z >> shift], 1);
        atomicAdd(&mine[some.w >> shift], 1);
    }
    if (begin < many - 4 * fours)
        atomicAdd(&mine[numbers[4 * fours + begin] >> shift], 1);
    __syncthreads();
    for (unsigned int bin = threadIdx.x; bin < bins; bin += threads) {
        unsigned long long sum = 0;
        for (unsigned int warp = 0; warp < warps; warp++)
            sum += own[warp * bins + bin];
        atomicAdd(&counts[bin], sum);
    }
}
