/* SPDX-License-Identifier: MIT */
#include "samples/arena/black-scholes/market.h"

using namespace ptsched::black_scholes;

namespace {

/* The normal distribution's. */
__device__ float cumulative(float x)
{
    return 0.5F * erfcf(-0.70710678F * x);
}

} // namespace

/* European options, by Black and Scholes: a thread for each. */
extern "C" __global__ void __launch_bounds__(threads)
    price(const Market *market, const float *strike, const float *years, const unsigned short *underlying, float *call,
          float *put, unsigned int count)
{
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const float now = market->price[underlying[i]], spread = market->volatility[underlying[i]] * sqrtf(years[i]);
    const float d1 = (logf(now / strike[i]) + market->rate * years[i]) / spread + 0.5F * spread, d2 = d1 - spread;
    const float discounted = strike[i] * expf(-market->rate * years[i]);
    call[i] = now * cumulative(d1) - discounted * cumulative(d2);
    put[i] = discounted * cumulative(-d2) - now * cumulative(-d1);
}
