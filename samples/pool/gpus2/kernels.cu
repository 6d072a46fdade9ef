/* SPDX-License-Identifier: MIT */
/* A tile of 128 x 128 of a large product, in single precision: 8 x 8 elements for each of 256 threads. */
#include "samples/pool/common/tile.cuh"
#include "samples/pool/gpus2/tasks.h"
#include <ptsched/pool.cuh>

extern __shared__ __align__(16) unsigned char memory[];

extern "C" {
/* Of this GPU, as the host says. */
__device__ gpus2::Matrices matrices;
}

namespace gpus2 {

using namespace ptsched::samples;

constexpr unsigned int threads = 256;
/* So many columns of the left and rows of the right factor are in shared memory at once, and so often. */
constexpr unsigned int part = 16, stages = 3;
/* Rows of the left one are so far apart that lanes of a warp read other banks. */
constexpr unsigned int left_pitch = 20;

struct Stage {
    float left[tile][left_pitch];
    float right[part][tile];
};

/* Where a thread's elements are: rows 4 apart, and two times four neighbouring columns. */
class Sums {
public:
    __device__ Sums()
        : row_(threadIdx.x / 64 * 32 + threadIdx.x % 32 / 8), column_(threadIdx.x / 32 % 2 * 64 + threadIdx.x % 8 * 4)
    {
    }

    __device__ void add(const Stage &stage)
    {
        UNROLLED
        for (unsigned int k = 0; k < part; k += 4) {
            float4 left[8];
            UNROLLED
            for (unsigned int i = 0; i < 8; i++)
                left[i] = *reinterpret_cast<const float4 *>(&stage.left[row_ + i * 4][k]);
            add_row(left, stage, k, &float4::x);
            add_row(left, stage, k + 1, &float4::y);
            add_row(left, stage, k + 2, &float4::z);
            add_row(left, stage, k + 3, &float4::w);
        }
    }

    /* To the tile at @to, whose rows are @pitch apart. */
    __device__ void store(float *to, unsigned long long int pitch) const
    {
        UNROLLED
        for (unsigned int i = 0; i < 16; i++)
            *reinterpret_cast<float4 *>(to + (row_ + i / 2 * 4) * pitch + column_ + i % 2 * 32) = sums_[i / 2][i % 2];
    }

private:
    __device__ void add_row(const float4 (&left)[8], const Stage &stage, unsigned int k, float float4::*which)
    {
        UNROLLED
        for (unsigned int half = 0; half < 2; half++) {
            const float4 right = *reinterpret_cast<const float4 *>(&stage.right[k][column_ + half * 32]);
            UNROLLED
            for (unsigned int i = 0; i < 8; i++) {
                const float factor = left[i].*which;
                float4 &sum = sums_[i][half];
                sum.x += factor * right.x;
                sum.y += factor * right.y;
                sum.z += factor * right.z;
                sum.w += factor * right.w;
            }
        }
    }

    const unsigned int row_, column_;
    float4 sums_[8][2]{};
};

/* The next ones are on their way while one is multiplied. */
__device__ void multiply(Task &task, const ptsched::pool::Block &)
{
    Stage *const ring = reinterpret_cast<Stage *>(memory);
    const unsigned long long int n = matrices.n;
    const float *const a = matrices.a + task.row * tile * n, *const b = matrices.b + task.column * tile;
    const unsigned int parts = matrices.n / part;
    const auto fetch = [&](unsigned int which) {
        if (which < parts) {
            Stage &stage = ring[which % stages];
            copy_part<tile, part>(&stage.left[0][0], left_pitch, a + which * part, matrices.n, threadIdx.x, threads);
            copy_part<part, tile>(&stage.right[0][0], tile, b + which * part * n, matrices.n, threadIdx.x, threads);
        }
        commit_copies();
    };
    Sums sums;
    for (unsigned int i = 0; i < stages - 1; i++)
        fetch(i);
    for (unsigned int i = 0; i < parts; i++) {
        wait_for_copies<stages - 2>();
        __syncthreads();
        fetch(i + stages - 1);
        sums.add(ring[i % stages]);
    }
    wait_for_copies<0>();
    sums.store(matrices.c + task.row * tile * n + task.column * tile, n);
    if (threadIdx.x == 0)
        task.place = matrices.place;
}

} // namespace gpus2

extern "C" __global__ void __launch_bounds__(256, 1) tiles(ptsched::pool::Slots slots)
{
    ptsched::pool::serve<gpus2::multiply>(slots);
}
