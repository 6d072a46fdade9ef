/* SPDX-License-Identifier: MIT */
/* What the kernels by hand and the device functions share: the arithmetic of a tile's points. */
#ifndef SAMPLES_SPMD_GMM_MIXTURE_CUH
#define SAMPLES_SPMD_GMM_MIXTURE_CUH

#include "samples/common/unrolled.cuh"
#include "samples/spmd/gmm/sizes.h"

namespace ptsched::samples::gmm {

/* So many of the sums does each thread keep: one after another, by all threads of the block. */
constexpr unsigned int sums_of_thread = (sum_floats + threads - 1) / threads;
/* A one and a point's dimensions, whose products are summed, and a column more: see to banks. */
constexpr unsigned int row = dimensions + 2;

__device__ inline float log_density(const float *point, const float *component)
{
    float by[dimensions], sum = 0;
    UNROLLED
    for (unsigned int i = 0; i < dimensions; i++)
        by[i] = point[i] - component[middle_at + i];
    UNROLLED
    for (unsigned int i = 0; i < dimensions; i++) {
        float along = 0;
        UNROLLED
        for (unsigned int k = 0; k <= i; k++)
            along += component[factor_at + i * (i + 1) / 2 + k] * by[k];
        sum += along * along;
    }
    return component[scale_at] - 0.5f * sum;
}

/* Of a component's sums, which two of a point's numbers are multiplied; the first of these is one. */
__device__ inline void factors_of(unsigned int at, unsigned int *one, unsigned int *other)
{
    unsigned int i = at, k = 0;
    if (at >= second_at) {
        for (i = 1, k = at - second_at + 1; k > i; i++) /* by rows of a lower triangle */
            k -= i;
    }
    *one = i;
    *other = k;
}

/* Puts responsibilities of a tile's points in the place of logarithms of densities: a thread for each point. */
__device__ inline void share_out(float *weights, unsigned int point)
{
    float most = -3e38f, all = 0;
    for (unsigned int i = 0; i < components; i++)
        most = fmaxf(most, weights[i * tile + point]);
    for (unsigned int i = 0; i < components; i++)
        all += weights[i * tile + point] = expf(weights[i * tile + point] - most);
    for (unsigned int i = 0; i < components; i++)
        weights[i * tile + point] /= all;
}

/*
 * Adds a tile's points to what the thread sums, of which it multiplies the numbers @one and @other; by all threads of
 * the block, which see the points and the model.
 */
__device__ inline void add_tile(const float *own, const float *own_model, unsigned int here, float *weights,
                                const unsigned int (&one)[sums_of_thread], const unsigned int (&other)[sums_of_thread],
                                float (&sums)[sums_of_thread])
{
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
}

} // namespace ptsched::samples::gmm

#endif /* SAMPLES_SPMD_GMM_MIXTURE_CUH */
