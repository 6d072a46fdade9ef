/* SPDX-License-Identifier: MIT */
#include "samples/pool/kmeans/problem.h"
#include <ptsched/pool.cuh>

namespace {

using namespace ptsched::kmeans;

constexpr unsigned int lanes = 32;
/* Of a thread: a warp has so many samples and all centres. */
constexpr unsigned int rows = tile_rows / (tile_threads / lanes), columns = clusters / lanes;
static_assert(rows == 4 && columns == 4, "both are read at once");

/* A little more than fits, so that a column's neighbours are in other banks. */
template <unsigned int Count> using Strip = float[tile_depth][Count + 4];

/* Of @Count vectors from @from on, so many dimensions, each of which is a row here. */
template <unsigned int Count> __device__ void load(Strip<Count> &strip, const float *from, unsigned int dimensions)
{
    for (unsigned int i = threadIdx.x; i < Count * tile_depth / 4; i += tile_threads) {
        const unsigned int vector = i % Count, at = i / Count * 4;
        const float4 four =
            *reinterpret_cast<const float4 *>(from + static_cast<unsigned long long>(vector) * dimensions + at);
        strip[at][vector] = four.x;
        strip[at + 1][vector] = four.y;
        strip[at + 2][vector] = four.z;
        strip[at + 3][vector] = four.w;
    }
}

/* The warp's nearest centre to a sample, of whose distances each lane has some. */
__device__ Cluster nearest_of(const float (&sums)[columns], const float *norms)
{
    const unsigned int first = threadIdx.x % lanes * columns;
    float least = norms[first] - 2 * sums[0];
    unsigned int cluster = first;
    for (unsigned int i = 1; i < columns; i++)
        if (const float distance = norms[first + i] - 2 * sums[i]; distance < least) {
            least = distance;
            cluster = first + i;
        }
    for (int with = lanes / 2; with; with /= 2) {
        const float other = __shfl_xor_sync(0xffffffff, least, with);
        const unsigned int its = __shfl_xor_sync(0xffffffff, cluster, with);
        if (other < least || (other == least && its < cluster)) {
            least = other;
            cluster = its;
        }
    }
    return static_cast<Cluster>(cluster);
}

__device__ void assign(Assign &task, const ptsched::pool::Block &)
{
    alignas(16) __shared__ Strip<tile_rows> left;
    alignas(16) __shared__ Strip<clusters> right;
    const Problem problem = *task.problem;
    const float *const samples = problem.samples + static_cast<unsigned long long>(task.first) * problem.dimensions;
    const unsigned int row = threadIdx.x / lanes * rows, column = threadIdx.x % lanes * columns;
    float sums[rows][columns] = {};

    for (unsigned int at = 0; at < problem.dimensions; at += tile_depth) {
        load<tile_rows>(left, samples + at, problem.dimensions);
        load<clusters>(right, problem.centres + at, problem.dimensions);
        __syncthreads();
        for (unsigned int k = 0; k < tile_depth; k++) {
            const float4 four = *reinterpret_cast<const float4 *>(&left[k][row]);
            const float4 those = *reinterpret_cast<const float4 *>(&right[k][column]);
            const float these[rows] = {four.x, four.y, four.z, four.w};
            for (unsigned int i = 0; i < rows; i++) {
                sums[i][0] += these[i] * those.x;
                sums[i][1] += these[i] * those.y;
                sums[i][2] += these[i] * those.z;
                sums[i][3] += these[i] * those.w;
            }
        }
        __syncthreads();
    }
    for (unsigned int i = 0; i < rows; i++) {
        const Cluster cluster = nearest_of(sums[i], problem.norms);
        if (threadIdx.x % lanes == 0)
            task.nearest[row + i] = cluster;
    }
}

} // namespace

extern "C" __global__ void kmeans(ptsched::pool::Slots slots)
{
    ptsched::pool::serve<ptsched::pool::only_task<assign>>(slots);
}
