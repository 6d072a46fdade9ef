/* SPDX-License-Identifier: MIT */
#include "samples/spmd/cmeans/tile.cuh"
#include <ptsched/spmd.cuh>

using namespace ptsched::samples::cmeans;

/* Centres are the parameters. Blocks take tiles by turns; each thread adds a tile's points to its own sums. */
struct CMeans {
    struct Point {
        float at[dimensions];
    };
    struct Sums {
        float of[dimensions + 1]; /* and of the weights */
    };
    using Record = Point;
    using Key = unsigned int;
    using Value = Sums;
    using Parameters = float;
    using Combine = ptsched::spmd::Sum<float>;
    static constexpr unsigned int keys = clusters, threads = ptsched::samples::cmeans::threads;

    static __device__ void map_block(const auto &input, auto &out)
    {
        const float *const points = input[0].at;
        const unsigned long long count = input.records;
        __shared__ float near[centre_floats];
        __shared__ float own[tile * (dimensions + 1)]; /* a column more: threads of a warp read different banks */
        __shared__ float weights[clusters * tile];
        float sums[sums_of_thread], weight = 0;
        UNROLLED
        for (unsigned int i = 0; i < sums_of_thread; i++)
            sums[i] = 0;
        for (unsigned int i = threadIdx.x; i < centre_floats; i += threads)
            near[i] = input.parameters[i];

        for (unsigned long long first = blockIdx.x * tile; first < count; first += gridDim.x * tile) {
            const unsigned int here = count - first < tile ? static_cast<unsigned int>(count - first) : tile;
            for (unsigned int i = threadIdx.x; i < here * dimensions; i += threads)
                own[i / dimensions * (dimensions + 1) + i % dimensions] = points[first * dimensions + i];
            __syncthreads();
            weigh(own, near, here, weights);
            __syncthreads();
            add_tile(own, weights, here, sums, weight);
            __syncthreads();
        }
        UNROLLED
        for (unsigned int i = 0; i < sums_of_thread; i++) {
            const unsigned int at = i * threads + threadIdx.x;
            if (at < centre_floats)
                out.own(at / dimensions).of[at % dimensions] += sums[i];
        }
        if (threadIdx.x < clusters)
            out.own(threadIdx.x).of[dimensions] += weight;
    }
};

extern "C" __global__ void __launch_bounds__(ptsched::samples::cmeans::threads)
    add_points(ptsched::spmd::gpu::Launch launch)
{
    ptsched::spmd::run<CMeans>(launch);
}
