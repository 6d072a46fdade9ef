/* SPDX-License-Identifier: MIT */
#include "samples/common/unrolled.cuh"
#include "samples/spmd/cmeans/sizes.h"
#include <ptsched/spmd.cuh>

using namespace ptsched::samples::cmeans;

/* So many of the sums does each thread keep: one after another, by all threads of the block. */
constexpr unsigned int sums_of_thread = (centre_floats + threads - 1) / threads;

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
            for (unsigned int i = threadIdx.x; i < clusters * tile; i += threads) {
                const float *const point = own + i % tile * (dimensions + 1), *const centre =
                                                                                  near + i / tile * dimensions;
                float distance = 0;
                if (i % tile < here)
                    for (unsigned int dimension = 0; dimension < dimensions; dimension++) {
                        const float by = point[dimension] - centre[dimension];
                        distance += by * by;
                    }
                weights[i] = 1 / (distance + 1e-12f);
            }
            __syncthreads();
            if (threadIdx.x < tile) {
                float all = 0;
                for (unsigned int cluster = 0; cluster < clusters; cluster++)
                    all += weights[cluster * tile + threadIdx.x];
                for (unsigned int cluster = 0; cluster < clusters; cluster++) {
                    const float part = weights[cluster * tile + threadIdx.x] / all;
                    weights[cluster * tile + threadIdx.x] = part * part;
                }
            }
            __syncthreads();
            UNROLLED
            for (unsigned int i = 0; i < sums_of_thread; i++) {
                const unsigned int at = i * threads + threadIdx.x;
                if (at < centre_floats)
                    for (unsigned int point = 0; point < here; point++)
                        sums[i] +=
                            weights[at / dimensions * tile + point] * own[point * (dimensions + 1) + at % dimensions];
            }
            if (threadIdx.x < clusters)
                for (unsigned int point = 0; point < here; point++)
                    weight += weights[threadIdx.x * tile + point];
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
