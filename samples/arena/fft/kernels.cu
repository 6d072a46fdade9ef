/* SPDX-License-Identifier: MIT */
#include "samples/arena/fft/sample.h"

using namespace ptsched::fft;

/*
 * A pass of Stockham's transform with radix 2, from one array to another: a thread for each of count / 2 butterflies.
 * There are two to the power of @done subsequences, which were one at first. @direction is -1, or 1 for the inverse.
 */
extern "C" __global__ void __launch_bounds__(threads)
    pass(const Sample *from, Sample *to, unsigned int count, unsigned int done, float direction)
{
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x, half = count / 2;
    if (i >= half)
        return;
    const unsigned int stride = 1U << done, place = i >> done;
    const Sample one = from[i], other = from[i + half];
    const Sample difference{one.real - other.real, one.imaginary - other.imaginary};
    const float angle = direction * 3.14159265F * static_cast<float>(place) / static_cast<float>(half >> done);
    const float cosine = cosf(angle), sine = sinf(angle);
    Sample *const made = to + (i & (stride - 1)) + 2 * stride * place;
    made[0] = {one.real + other.real, one.imaginary + other.imaginary};
    made[stride] = {difference.real * cosine - difference.imaginary * sine,
                    difference.real * sine + difference.imaginary * cosine};
}

/* After the inverse, which multiplies by the count: what was measured is again what it was. */
extern "C" __global__ void __launch_bounds__(threads) blend(Sample *signal, const Sample *measured, unsigned int count)
{
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const float scale = 1 / static_cast<float>(count);
    const Sample own = signal[i];
    signal[i] = is_measured(i) ? measured[i] : Sample{own.real * scale, own.imaginary * scale};
}
