/* SPDX-License-Identifier: MIT */
#include "samples/common/unrolled.cuh"
#include "samples/spmd/kmeans/sizes.h"
#include <ptsched/spmd.cuh>

namespace kmeans = ptsched::samples::kmeans;

/* A point goes to the nearest centre; centres are the parameters. */
struct KMeans {
    struct alignas(16) Point {
        float at[kmeans::dimensions];
    };
    struct Sums {
        float of[kmeans::dimensions + 1]; /* and how many there are */
    };
    using Record = Point;
    using Key = unsigned int;
    using Value = Sums;
    using Parameters = float;
    using Combine = ptsched::spmd::Sum<float>;
    static constexpr unsigned int keys = kmeans::clusters, threads = kmeans::threads;

    static __device__ unsigned int nearest_of(const Point &point, const float *centres)
    {
        unsigned int nearest = 0;
        float least = 3e38f;
        for (unsigned int cluster = 0; cluster < kmeans::clusters; cluster++) {
            float distance = 0;
            UNROLLED
            for (unsigned int i = 0; i < kmeans::dimensions; i++) {
                const float by = point.at[i] - centres[cluster * kmeans::dimensions + i];
                distance += by * by;
            }
            if (distance < least) {
                least = distance;
                nearest = cluster;
            }
        }
        return nearest;
    }

    static __device__ void map_block(const auto &input, auto &out)
    {
        __shared__ float near[kmeans::centre_floats];
        __shared__ float own[kmeans::sum_floats];
        for (unsigned int i = threadIdx.x; i < kmeans::centre_floats; i += threads)
            near[i] = input.parameters[i];
        for (unsigned int i = threadIdx.x; i < kmeans::sum_floats; i += threads)
            own[i] = 0;
        __syncthreads();
        for (unsigned long long i = ptsched::spmd::gpu::thread_number(); i < input.records;
             i += ptsched::spmd::gpu::thread_count()) {
            const Point point = input[i];
            float *const sums = own + nearest_of(point, near) * (kmeans::dimensions + 1);
            UNROLLED
            for (unsigned int k = 0; k < kmeans::dimensions; k++)
                atomicAdd(&sums[k], point.at[k]);
            atomicAdd(&sums[kmeans::dimensions], 1.0f);
        }
        __syncthreads();
        for (unsigned int i = threadIdx.x; i < kmeans::sum_floats; i += threads)
            out.own(i / (kmeans::dimensions + 1)).of[i % (kmeans::dimensions + 1)] += own[i];
    }
};

extern "C" __global__ void __launch_bounds__(ptsched::samples::kmeans::threads)
    add_points(ptsched::spmd::gpu::Launch launch)
{
    ptsched::spmd::run<KMeans>(launch);
}
