/* SPDX-License-Identifier: MIT */
#include "samples/spmd/gmm/mixture.cuh"
#include <ptsched/spmd.cuh>

using namespace ptsched::samples::gmm;

/* The model is the parameters. Blocks take tiles by turns; each thread adds a tile's points to its own sums. */
struct Mixture {
    struct Point {
        float at[dimensions];
    };
    struct Sums {
        float of[component_sums];
    };
    using Record = Point;
    using Key = unsigned int;
    using Value = Sums;
    using Parameters = float;
    using Combine = ptsched::spmd::Sum<float>;
    static constexpr unsigned int keys = components, threads = ptsched::samples::gmm::threads;

    static __device__ void map_block(const auto &input, auto &out)
    {
        const float *const points = input[0].at;
        const unsigned long long count = input.records;
        __shared__ float own_model[model_floats];
        __shared__ float own[tile * row];
        __shared__ float weights[components * tile];
        float sums[sums_of_thread];
        unsigned int one[sums_of_thread], other[sums_of_thread];
        UNROLLED
        for (unsigned int i = 0; i < sums_of_thread; i++) {
            sums[i] = 0;
            factors_of((i * threads + threadIdx.x) % component_sums, &one[i], &other[i]);
        }
        for (unsigned int i = threadIdx.x; i < model_floats; i += threads)
            own_model[i] = input.parameters[i];
        for (unsigned int i = threadIdx.x; i < tile; i += threads)
            own[i * row] = 1;

        for (unsigned long long first = blockIdx.x * tile; first < count; first += gridDim.x * tile) {
            const unsigned int here = count - first < tile ? static_cast<unsigned int>(count - first) : tile;
            for (unsigned int i = threadIdx.x; i < here * dimensions; i += threads)
                own[i / dimensions * row + 1 + i % dimensions] = points[first * dimensions + i];
            __syncthreads();
            add_tile(own, own_model, here, weights, one, other, sums);
            __syncthreads();
        }
        UNROLLED
        for (unsigned int i = 0; i < sums_of_thread; i++) {
            const unsigned int at = i * threads + threadIdx.x;
            if (at < sum_floats)
                out.own(at / component_sums).of[at % component_sums] += sums[i];
        }
    }
};

extern "C" __global__ void __launch_bounds__(ptsched::samples::gmm::threads)
    add_points(ptsched::spmd::gpu::Launch launch)
{
    ptsched::spmd::run<Mixture>(launch);
}
