/* SPDX-License-Identifier: MIT */
#include <ptsched/spmd.cuh>

/* A warp for each row; the parameters are the vector. */
struct Gemv {
    using Key = unsigned long long; /* of a row */
    using Value = float;
    using Parameters = float;
    static __device__ void map_block(const auto &input, auto &out)
    {
        const unsigned int lane = threadIdx.x % 32,
                           columns = static_cast<unsigned int>(input.record_bytes / sizeof(float));
        for (unsigned long long row = ptsched::spmd::gpu::thread_number() / 32; row < input.records;
             row += ptsched::spmd::gpu::thread_count() / 32) {
            const float *const own = reinterpret_cast<const float *>(input.data + row * input.record_bytes);
            float sum = 0;
            for (unsigned int column = lane; column < columns; column += 32)
                sum += own[column] * input.parameters[column];
            for (unsigned int distance = 16; distance; distance /= 2)
                sum += __shfl_down_sync(0xffffffff, sum, distance);
            if (lane == 0)
                out(input.first + row, sum);
        }
    }
};

extern "C" __global__ void __launch_bounds__(256) gemv(ptsched::spmd::gpu::Launch launch)
{
    ptsched::spmd::run<Gemv>(launch);
}
