/* SPDX-License-Identifier: MIT */
/* For the kernels by hand of what goes over points again and again. */
#ifndef SAMPLES_SPMD_COMMON_ADD_PARTS_CUH
#define SAMPLES_SPMD_COMMON_ADD_PARTS_CUH

#include "samples/common/unrolled.cuh"

namespace ptsched::samples {

/* Of each of @Floats sums: what @count parts bring, which lie one behind the other. A thread for each. */
template <unsigned int Floats> __device__ inline void add_parts_of(const float *parts, double *sums, unsigned int count)
{
    const unsigned int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= Floats)
        return;
    double sums_of_some[8] = {}; /* so that as many loads are under way */
    for (unsigned int first = 0; first < count; first += 8) {
        UNROLLED
        for (unsigned int i = 0; i < 8; i++)
            sums_of_some[i] += first + i < count ? parts[(first + i) * Floats + at] : 0;
    }
    double sum = 0;
    UNROLLED
    for (unsigned int i = 0; i < 8; i++)
        sum += sums_of_some[i];
    sums[at] = sum;
}

} // namespace ptsched::samples

#endif /* SAMPLES_SPMD_COMMON_ADD_PARTS_CUH */
