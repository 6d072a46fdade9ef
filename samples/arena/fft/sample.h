/* SPDX-License-Identifier: MIT */
#ifndef SAMPLES_ARENA_FFT_SAMPLE_H
#define SAMPLES_ARENA_FFT_SAMPLE_H

#ifdef __CUDACC__
#define ON_BOTH_SIDES __host__ __device__
#else
#define ON_BOTH_SIDES
#endif

namespace ptsched::fft {

constexpr unsigned int threads = 256;

struct alignas(8) Sample {
    float real, imaginary;
};

/* Three of five samples are, without an order. */
ON_BOTH_SIDES inline bool is_measured(unsigned int i)
{
    return (i * 2654435761U >> 16) % 5 < 3;
}

} // namespace ptsched::fft

#endif /* SAMPLES_ARENA_FFT_SAMPLE_H */
