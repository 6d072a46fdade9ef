/* SPDX-License-Identifier: MIT */
/* What is done with tiles: by a block of 128 threads, which has two of them in shared memory. */
#ifndef SAMPLES_POOL_CHOLESKY_TILES_CUH
#define SAMPLES_POOL_CHOLESKY_TILES_CUH

#include "samples/pool/cholesky/steps.h"
#include "samples/pool/common/tile.cuh"

namespace cholesky {

using namespace ptsched::samples;

constexpr unsigned int warps = group_threads / 32;
/* Columns of a tile that are factored at once, as many as a thread has in registers. */
constexpr unsigned int panel = 16;

__device__ inline double *tile_of(const Step &step, unsigned int row, unsigned int column)
{
    return step.matrix + (static_cast<unsigned long long int>(row) * step.n + column) * size;
}

__device__ inline double *inverse_of(const Step &step)
{
    return step.matrix + static_cast<unsigned long long int>(step.n) * step.n + step.k * size * size;
}

/* The first @panel rows and columns from @first on, by a warp: each of its first lanes has a row. */
__device__ inline void factor_corner(Tile<double> &a, double *reciprocals, unsigned int first, unsigned int lane)
{
    double row[panel];
    const unsigned int own = lane % panel;
    UNROLLED
    for (unsigned int i = 0; i < panel; i++)
        row[i] = a[first + own][first + i];
    UNROLLED
    for (unsigned int i = 0; i < panel; i++) {
        const double reciprocal = rsqrt(__shfl_sync(0xffffffff, row[i], static_cast<int>(i)));
        row[i] *= reciprocal;
        UNROLLED
        for (unsigned int j = i + 1; j < panel; j++)
            row[j] -= row[i] * __shfl_sync(0xffffffff, row[i], static_cast<int>(j));
        if (lane == i)
            reciprocals[first + i] = reciprocal;
    }
    if (lane >= panel)
        return;
    UNROLLED
    for (unsigned int i = 0; i < panel; i++)
        if (i <= own)
            a[first + own][first + i] = row[i];
}

/* What is below that corner: each thread has a row. */
__device__ inline void solve_row(Tile<double> &a, const double *reciprocals, unsigned int first, unsigned int at)
{
    double row[panel];
    UNROLLED
    for (unsigned int i = 0; i < panel; i++)
        row[i] = a[at][first + i];
    UNROLLED
    for (unsigned int i = 0; i < panel; i++) {
        row[i] *= reciprocals[first + i];
        UNROLLED
        for (unsigned int j = i + 1; j < panel; j++)
            row[j] -= row[i] * a[first + j][first + i];
    }
    UNROLLED
    for (unsigned int i = 0; i < panel; i++)
        a[at][first + i] = row[i];
}

/* Of what a warp has of 16 x 8 elements: those of the calling lane, two by two. */
template <typename Function> __device__ void for_each_of(double (&sum)[4], unsigned int lane, Function function)
{
    function(lane / 4, lane % 4 * 2, sum[0], sum[1]);
    function(lane / 4 + 8, lane % 4 * 2, sum[2], sum[3]);
}

/* Behind the columns of a panel, on the diagonal and below: less the product of the panel's rows. */
__device__ inline void update_behind(Tile<double> &a, unsigned int first, unsigned int warp, unsigned int lane)
{
    unsigned int turn = 0;
    for (unsigned int row = first + panel; row < size; row += 16)
        for (unsigned int column = first + panel; column < row + 16; column += 8) {
            if (turn++ % warps != warp)
                continue;
            double sum[4]{};
            multiply_parts<panel, Right::transposed>(sum, a, row, first, a, first, column, lane);
            for_each_of(sum, lane, [&](unsigned int i, unsigned int j, double x, double y) {
                a[row + i][column + j] -= x;
                a[row + i][column + j + 1] -= y;
            });
        }
}

/* A column of the inverse of a corner, which is all that there is of it in @inverse. */
__device__ inline void invert_corner(const Tile<double> &a, Tile<double> &inverse, const double *reciprocals,
                                     unsigned int first, unsigned int column)
{
    double values[panel];
    UNROLLED
    for (unsigned int i = 0; i < panel; i++)
        values[i] = i == column;
    UNROLLED
    for (unsigned int i = 0; i < panel; i++) {
        values[i] *= reciprocals[first + i];
        UNROLLED
        for (unsigned int j = i + 1; j < panel; j++)
            values[j] -= values[i] * a[first + j][first + i];
    }
    UNROLLED
    for (unsigned int i = 0; i < panel; i++)
        inverse[first + i][first + column] = values[i];
}

/*
 * From the inverses of two neighbours on the diagonal, of @Half rows each, that of both: what is below the first and
 * beside the second is - inverse2 a21 inverse1. For all such pairs of the tile. What is in between goes to the upper
 * right of @a, which nobody needs.
 */
template <unsigned int Half>
__device__ void join_inverses(Tile<double> &a, Tile<double> &inverse, unsigned int warp, unsigned int lane)
{
    constexpr unsigned int in_column = Half / 16, in_pair = in_column * (Half / 8), all = size / 2 / Half * in_pair;
    for (unsigned int i = warp; i < all; i += warps) {
        const unsigned int pair = i / in_pair, row = i % in_column * 16, column = i % in_pair / in_column * 8;
        const unsigned int first = pair * 2 * Half, second = first + Half;
        double sum[4]{};
        multiply_parts<Half, Right::plain>(sum, a, second + row, first, inverse, first, first + column, lane);
        for_each_of(sum, lane, [&](unsigned int y, unsigned int x, double left, double right) {
            a[row + y][size / 2 + pair * Half + column + x] = left;
            a[row + y][size / 2 + pair * Half + column + x + 1] = right;
        });
    }
    __syncthreads();
    for (unsigned int i = warp; i < all; i += warps) {
        const unsigned int pair = i / in_pair, row = i % in_column * 16, column = i % in_pair / in_column * 8;
        const unsigned int first = pair * 2 * Half, second = first + Half;
        double sum[4]{};
        multiply_parts<Half, Right::plain>(sum, inverse, second + row, second, a, 0, size / 2 + pair * Half + column,
                                           lane);
        for_each_of(sum, lane, [&](unsigned int y, unsigned int x, double left, double right) {
            inverse[second + row + y][first + column + x] = -left;
            inverse[second + row + y][first + column + x + 1] = -right;
        });
    }
    __syncthreads();
}

/* Copies @from, what is above the diagonal as 0 or not at all. */
enum class Above { zero, left_alone };
template <Above What>
__device__ void store_lower(double *to, unsigned int pitch, const Tile<double> &from, unsigned int rank)
{
    for (unsigned int i = rank; i < size * size; i += group_threads) {
        const unsigned int row = i / size, column = i % size;
        if (column <= row)
            to[static_cast<unsigned long long int>(row) * pitch + column] = from[row][column];
        else if (What == Above::zero)
            to[static_cast<unsigned long long int>(row) * pitch + column] = 0;
    }
}

__device__ inline void factor(Step &step, Tile<double> *memory)
{
    __shared__ double reciprocals[size];
    Tile<double> &a = memory[0], &inverse = memory[1];
    const unsigned int rank = threadIdx.x, warp = rank / 32, lane = rank % 32;
    double *const tile = tile_of(step, step.k, step.k);

    copy_part<size, size>(&a[0][0], tile_pitch, tile, step.n, rank, group_threads);
    commit_copies();
    for (unsigned int i = rank; i < size * size; i += group_threads)
        inverse[i / size][i % size] = 0;
    wait_for_copies<0>();
    __syncthreads();
    for (unsigned int first = 0; first < size; first += panel) {
        if (warp == 0)
            factor_corner(a, reciprocals, first, lane);
        __syncthreads();
        if (first + panel + rank < size)
            solve_row(a, reciprocals, first, first + panel + rank);
        __syncthreads();
        update_behind(a, first, warp, lane);
        __syncthreads();
    }
    if (rank < size)
        invert_corner(a, inverse, reciprocals, rank / panel * panel, rank % panel);
    __syncthreads();
    join_inverses<16>(a, inverse, warp, lane);
    join_inverses<32>(a, inverse, warp, lane);
    store_lower<Above::left_alone>(tile, step.n, a, rank);
    store_lower<Above::zero>(inverse_of(step), size, inverse, rank);
    /* What is not positive has no root, and whatever comes after it is not a number. */
    if (rank == 0)
        step.failed = !(a[size - 1][size - 1] > 0);
}

/*
 * 64 rows at @a by the transpose of those at @b, over @depth: a multiple of 64. Of each there is room for two parts of
 * 32 columns, of which one is on its way while the other is multiplied.
 */
__device__ inline void multiply(SumOfDoubles &sum, Tile<double> *memory, const double *a, unsigned int a_pitch,
                                const double *b, unsigned int b_pitch, unsigned int depth)
{
    constexpr unsigned int part = size / 2;
    const auto fetch = [&](unsigned int k) {
        if (k < depth) {
            copy_part<size, part>(&memory[0][0][k % size], tile_pitch, a + k, a_pitch, threadIdx.x, group_threads);
            copy_part<size, part>(&memory[1][0][k % size], tile_pitch, b + k, b_pitch, threadIdx.x, group_threads);
        }
        commit_copies();
    };
    fetch(0);
    fetch(part);
    for (unsigned int k = 0; k < depth; k += part) {
        wait_for_copies<1>();
        __syncthreads();
        sum.add<part, Right::transposed>(memory[0], memory[1], k % size);
        if (k + 2 * part < depth)
            __syncthreads();
        fetch(k + 2 * part);
    }
}

__device__ inline void solve(const Step &step, Tile<double> *memory)
{
    double *const tile = tile_of(step, step.row, step.k);
    SumOfDoubles sum(threadIdx.x);
    multiply(sum, memory, tile, step.n, inverse_of(step), size, size);
    sum.for_each([&](unsigned int row, unsigned int column, double x, double y) {
        *reinterpret_cast<double2 *>(tile + static_cast<unsigned long long int>(row) * step.n + column) =
            make_double2(x, y);
    });
}

__device__ inline void update(const Step &step, Tile<double> *memory)
{
    double *const tile = tile_of(step, step.row, step.column);
    SumOfDoubles sum(threadIdx.x);
    sum.for_each([&](unsigned int row, unsigned int column, double &x, double &y) {
        const double2 old =
            *reinterpret_cast<const double2 *>(tile + static_cast<unsigned long long int>(row) * step.n + column);
        x = -old.x;
        y = -old.y;
    });
    multiply(sum, memory, tile_of(step, step.row, step.k), step.n, tile_of(step, step.column, step.k), step.n,
             step.columns * size);
    sum.for_each([&](unsigned int row, unsigned int column, double x, double y) {
        *reinterpret_cast<double2 *>(tile + static_cast<unsigned long long int>(row) * step.n + column) =
            make_double2(-x, -y);
    });
}

__device__ inline void do_step(Step &step, Tile<double> *memory)
{
    switch (step.kind) {
    case Kind::factor:
        factor(step, memory);
        break;
    case Kind::solve:
        solve(step, memory);
        break;
    case Kind::update:
        update(step, memory);
        break;
    }
}

} // namespace cholesky

#endif /* SAMPLES_POOL_CHOLESKY_TILES_CUH */
