/* SPDX-License-Identifier: MIT */
/* Products of 64 x 64: each of a group of 128 threads, which has both factors in shared memory. */
#include "samples/pool/common/tile.cuh"
#include "samples/pool/gemm64/tasks.h"
#include <ptsched/pool.cuh>

using namespace ptsched::samples;
using ptsched::pool::Block;
using ptsched::pool::Slots;

extern __shared__ __align__(16) unsigned char memory[];

namespace gemm64 {

/* A group's factors; they come in parts, of so many columns of the left and rows of the right one. */
template <typename T> struct Factors {
    Tile<T> a, b;
};
constexpr unsigned int part = 16;
constexpr unsigned int elements = tile_size * tile_size;

template <typename T> __device__ void fetch(Factors<T> &to, const T *a, const T *b, unsigned int rank)
{
    for (unsigned int k = 0; k < tile_size; k += part) {
        copy_part<tile_size, part>(&to.a[0][k], tile_pitch, a + k, tile_size, rank, group_threads);
        copy_part<part, tile_size>(&to.b[k][0], tile_pitch, b + k * tile_size, tile_size, rank, group_threads);
        commit_copies();
    }
}

/* A thread has 8 x 4 elements: rows 4 apart, so that lanes read others, and neighbouring columns. */
class SumOfFloats {
public:
    __device__ explicit SumOfFloats(unsigned int rank)
        : row_(rank / 64 * 32 + rank % 32 / 8), column_(rank / 32 % 2 * 32 + rank % 8 * 4)
    {
    }

    template <unsigned int Depth> __device__ void add(const Tile<float> &a, const Tile<float> &b, unsigned int k)
    {
        UNROLLED
        for (unsigned int step = k; step < k + Depth; step += 4) {
            float left[rows][4], right[4][4];
            for (unsigned int i = 0; i < rows; i++)
                read(left[i], &a[row_ + i * 4][step]);
            for (unsigned int i = 0; i < 4; i++)
                read(right[i], &b[step + i][column_]);
            for (unsigned int i = 0; i < 4 * rows * 4; i++)
                sums_[i / 4 % rows][i % 4] += left[i / 4 % rows][i / 4 / rows] * right[i / 4 / rows][i % 4];
        }
    }

    __device__ void store(float *c) const
    {
        for (unsigned int i = 0; i < rows; i++)
            *reinterpret_cast<float4 *>(c + (row_ + i * 4) * tile_size + column_) =
                make_float4(sums_[i][0], sums_[i][1], sums_[i][2], sums_[i][3]);
    }

private:
    static constexpr unsigned int rows = 8;

    static __device__ void read(float (&to)[4], const float *from)
    {
        const float4 four = *reinterpret_cast<const float4 *>(from);
        to[0] = four.x;
        to[1] = four.y;
        to[2] = four.z;
        to[3] = four.w;
    }

    const unsigned int row_, column_;
    float sums_[rows][4]{};
};

} // namespace gemm64

namespace {

using gemm64::elements;
using gemm64::Factors;
using gemm64::part;

/* Groups meet, since barriers of a block count all of its threads. */
template <int Pending> __device__ void wait_for_part()
{
    wait_for_copies<Pending>();
    __syncthreads();
}

template <typename T> __device__ Factors<T> &begin(const Product<T> &task, unsigned int group, unsigned int rank)
{
    Factors<T> &factors = reinterpret_cast<Factors<T> *>(memory)[group];
    gemm64::fetch(factors, task.a + group * elements, task.b + group * elements, rank);
    return factors;
}

__device__ void multiply(Product<float> &task, const Block &)
{
    const unsigned int group = threadIdx.x / group_threads, rank = threadIdx.x % group_threads;
    const Factors<float> &factors = begin(task, group, rank);
    gemm64::SumOfFloats sum(rank);
    wait_for_part<3>();
    sum.add<part>(factors.a, factors.b, 0);
    wait_for_part<2>();
    sum.add<part>(factors.a, factors.b, part);
    wait_for_part<1>();
    sum.add<part>(factors.a, factors.b, 2 * part);
    wait_for_part<0>();
    sum.add<part>(factors.a, factors.b, 3 * part);
    sum.store(task.c + group * elements);
}

__device__ void multiply(Product<double> &task, const Block &)
{
    const unsigned int group = threadIdx.x / group_threads, rank = threadIdx.x % group_threads;
    const Factors<double> &factors = begin(task, group, rank);
    SumOfDoubles sum(rank);
    wait_for_part<3>();
    sum.add<part, Right::plain>(factors.a, factors.b, 0);
    wait_for_part<2>();
    sum.add<part, Right::plain>(factors.a, factors.b, part);
    wait_for_part<1>();
    sum.add<part, Right::plain>(factors.a, factors.b, 2 * part);
    wait_for_part<0>();
    sum.add<part, Right::plain>(factors.a, factors.b, 3 * part);
    double *c = task.c + group * elements;
    sum.for_each([c](unsigned int row, unsigned int column, double x, double y) {
        *reinterpret_cast<double2 *>(c + row * tile_size + column) = make_double2(x, y);
    });
}

/* For serve(), which is to know which of them. */
__device__ void multiply_floats(Product<float> &task, const Block &block)
{
    multiply(task, block);
}

__device__ void multiply_doubles(Product<double> &task, const Block &block)
{
    multiply(task, block);
}

} // namespace

extern "C" __global__ void __launch_bounds__(512) products_float(Slots slots)
{
    ptsched::pool::serve<multiply_floats>(slots);
}

extern "C" __global__ void __launch_bounds__(256, 1) products_double(Slots slots)
{
    ptsched::pool::serve<multiply_doubles>(slots);
}
