/* SPDX-License-Identifier: MIT */
#include "samples/spmd/histogram/sizes.h"
#include <ptsched/spmd.cuh>

namespace histogram = ptsched::samples::histogram;

struct Histogram {
    using Record = unsigned int;
    using Key = unsigned int;
    using Value = unsigned long long;
    using Combine = ptsched::spmd::Sum<unsigned long long>;
    static constexpr unsigned int keys = histogram::bins;
    static __device__ void map(const Record &record, const auto &, unsigned long long, auto &out)
    {
        out(record >> histogram::shift, 1);
    }
};

extern "C" __global__ void __launch_bounds__(256) count(ptsched::spmd::gpu::Launch launch)
{
    ptsched::spmd::run<Histogram>(launch);
}
