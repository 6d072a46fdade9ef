/* SPDX-License-Identifier: MIT */
#include "samples/pool/neighbours/problem.h"
#include <ptsched/pool.cuh>

namespace {

using namespace ptsched::neighbours;

/* Of a thread. */
constexpr unsigned int rows = 8, columns = 4;
static_assert(tile_threads == tile_rows / rows * (tile_columns / columns));

/* One more than fits, so that a column's neighbours are in other banks. */
template <unsigned int Count> using Strip = float[tile_depth][Count + 4];

/* @Count samples from @from on, so many of their dimensions, each of which is a row here. */
template <unsigned int Count> __device__ void load(Strip<Count> &strip, const float *from, unsigned int dimensions)
{
    for (unsigned int i = threadIdx.x; i < Count * tile_depth / 4; i += tile_threads) {
        const unsigned int sample = i % Count, at = i / Count * 4;
        const float4 four =
            *reinterpret_cast<const float4 *>(from + static_cast<unsigned long long>(sample) * dimensions + at);
        strip[at][sample] = four.x;
        strip[at + 1][sample] = four.y;
        strip[at + 2][sample] = four.z;
        strip[at + 3][sample] = four.w;
    }
}

__device__ void multiply(Tile &task, const ptsched::pool::Block &)
{
    alignas(16) __shared__ Strip<tile_rows> left;
    alignas(16) __shared__ Strip<tile_columns> right;
    const Problem problem = *task.problem;
    const unsigned long long dimensions = problem.dimensions;
    const unsigned int row = threadIdx.x / (tile_columns / columns) * rows;
    const unsigned int column = threadIdx.x % (tile_columns / columns) * columns;
    alignas(16) float sums[rows][columns] = {};

    for (unsigned int at = 0; at < problem.dimensions; at += tile_depth) {
        load<tile_rows>(left, problem.samples + task.row * dimensions + at, problem.dimensions);
        load<tile_columns>(right, problem.samples + task.column * dimensions + at, problem.dimensions);
        __syncthreads();
        for (unsigned int k = 0; k < tile_depth; k++) {
            alignas(16) float these[rows];
            const float4 those = *reinterpret_cast<const float4 *>(&right[k][column]);
            for (unsigned int i = 0; i < rows; i += 4)
                *reinterpret_cast<float4 *>(these + i) = *reinterpret_cast<const float4 *>(&left[k][row + i]);
            for (unsigned int i = 0; i < rows; i++) {
                sums[i][0] += these[i] * those.x;
                sums[i][1] += these[i] * those.y;
                sums[i][2] += these[i] * those.z;
                sums[i][3] += these[i] * those.w;
            }
        }
        __syncthreads();
    }
    for (unsigned int i = 0; i < rows; i++)
        *reinterpret_cast<float4 *>(task.products + (row + i) * static_cast<unsigned long long>(problem.count) +
                                    task.column + column) = make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
}

} // namespace

extern "C" __global__ void neighbours(ptsched::pool::Slots slots)
{
    ptsched::pool::serve<multiply>(slots);
}
