/* SPDX-License-Identifier: MIT */
/* What a block does for a part, in the pool and by hand. */
#ifndef SAMPLES_POOL_MIXED_WORK_H
#define SAMPLES_POOL_MIXED_WORK_H

#include "samples/pool/mixed/problem.h"

namespace ptsched::mixed {

/* That work at a row. */
constexpr unsigned int row_lanes = 8, rows_of_warp = 32 / row_lanes;
constexpr float rate = 0.02f, least_volatility = 0.1f, most_volatility = 0.5f;

__device__ inline void multiply(const Matrix &matrix, unsigned int first, unsigned int last)
{
    const unsigned int lane = threadIdx.x % row_lanes;
    const unsigned int warps = blockDim.x / 32, of_warp = threadIdx.x % 32 / row_lanes;
    for (unsigned int base = first + threadIdx.x / 32 * rows_of_warp; base < last; base += warps * rows_of_warp) {
        const unsigned int row = base + of_warp;
        float sum = 0;
        if (row < last) {
            const unsigned int end = matrix.begins[row + 1];
            for (unsigned int i = matrix.begins[row] + lane; i < end; i += row_lanes)
                sum += matrix.values[i] * __ldg(matrix.x + matrix.columns[i]);
        }
        for (int with = row_lanes / 2; with; with /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, with);
        if (lane == 0 && row < last)
            matrix.y[row] = sum;
    }
}

/* The normal distribution, by the polynomial of Abramowitz and Stegun, 26.2.17. */
__device__ inline float normal(float d)
{
    const float k = 1 / (1 + 0.2316419f * fabsf(d));
    const float polynomial =
        k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    const float tail = 0.39894228f * expf(-0.5f * d * d) * polynomial;
    return d > 0 ? 1 - tail : tail;
}

__device__ inline void price(const Options &options, unsigned int first, unsigned int last)
{
    const float step = (most_volatility - least_volatility) / static_cast<float>(options.volatilities);
    for (unsigned int i = first + threadIdx.x; i < last; i += blockDim.x) {
        const float value = options.prices[i], strike = options.strikes[i], years = options.years[i];
        const float root = sqrtf(years), distance = logf(value / strike);
        const float discounted = strike * expf(-rate * years);
        float calls = 0;
        for (unsigned int j = 0; j < options.volatilities; j++) {
            const float volatility = least_volatility + step * static_cast<float>(j);
            const float d1 = (distance + (rate + 0.5f * volatility * volatility) * years) / (volatility * root);
            calls += value * normal(d1) - discounted * normal(d1 - volatility * root);
        }
        const float call = calls / static_cast<float>(options.volatilities);
        options.calls[i] = call;
        options.puts[i] = call + discounted - value;
    }
}

} // namespace ptsched::mixed

#endif /* SAMPLES_POOL_MIXED_WORK_H */
