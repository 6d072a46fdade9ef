// SPDX-License-Identifier: MIT
/* Kernels whose threads wait for each other, for the virtual GPU (vgpu-cc) and for a real one (nvcc). */
#include "tests/vgpu/programs/host_words.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>

namespace cg = cooperative_groups;

__device__ inline unsigned int rank_in_block()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

/* Each block writes its numbers backwards. Shared memory is what the launch says: one word for each thread. */
extern "C" __global__ void reverse(const unsigned int *in, unsigned int *out)
{
    extern __shared__ unsigned int words[];
    const unsigned int t = threadIdx.x, first = blockIdx.x * blockDim.x;
    words[t] = in[first + t];
    __syncthreads();
    out[first + t] = words[blockDim.x - 1 - t];
}

/* One sum for each block of up to 256 threads, by as many barriers as it takes. */
extern "C" __global__ void block_sums(const unsigned int *in, unsigned int *out)
{
    __shared__ unsigned int sums[256];
    const unsigned int threads = blockDim.x * blockDim.y * blockDim.z, t = rank_in_block();
    sums[t] = in[blockIdx.x * threads + t];
    for (unsigned int left = threads; left > 1; left = (left + 1) / 2) {
        __syncthreads();
        if (t < left / 2)
            sums[t] += sums[left - 1 - t];
    }
    if (t == 0)
        out[blockIdx.x] = sums[0];
}

/* Every third thread ends before the others vote. out: three words of each thread. */
extern "C" __global__ void votes(unsigned int *out)
{
    const unsigned int t = threadIdx.x;
    if (t % 3 == 2)
        return;
    out[3 * t] = static_cast<unsigned int>(__syncthreads_count(t % 3 == 0));
    out[3 * t + 1] = static_cast<unsigned int>(__syncthreads_and(t % 3 != 2));
    out[3 * t + 2] = static_cast<unsigned int>(__syncthreads_or(t == 5000));
}

/* out: eight words of each thread of one block, whose last warp is not full. */
extern "C" __global__ void warps(unsigned int *out)
{
    const unsigned int t = threadIdx.x, lane = t % 32, left = blockDim.x - t / 32 * 32;
    const unsigned int all = left >= 32 ? 0xffffffffu : (1u << left) - 1, half = lane < 16 ? 0xffffu : 0xffff0000u;
    unsigned int *own = out + 8 * t;
    own[0] = __shfl_sync(all, t, 3);
    own[1] = __shfl_up_sync(all, t, 1);
    own[2] = __shfl_down_sync(all, t, 2, 8);
    own[3] = __shfl_xor_sync(all, t, 1);
    own[4] = __ballot_sync(all, lane % 2);
    own[5] = __match_any_sync(all, lane / 4);
    /* Half-warps that do not wait for each other. */
    if (lane < 16 && left > 16)
        own[6] = __shfl_sync(half, t, 5);
    else
        own[6] = __reduce_add_sync(all & half, 1u);
    __syncwarp(all);
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    own[7] = cg::reduce(tile, t, cg::plus<unsigned int>());
}

/* Rounds in which each block adds what all blocks had in the round before; its own state is in its shared memory. */
extern "C" __global__ void grid_rounds(unsigned int *words, unsigned int rounds)
{
    __shared__ unsigned int own;
    cg::grid_group grid = cg::this_grid();
    if (threadIdx.x == 0)
        own = blockIdx.x + 1;
    for (unsigned int round = 0; round < rounds; round++) {
        __syncthreads();
        if (threadIdx.x == 0)
            words[blockIdx.x] = own;
        grid.sync();
        unsigned int sum = 0;
        for (unsigned int block = threadIdx.x; block < gridDim.x; block += blockDim.x)
            sum += words[block];
        atomicAdd(&own, sum);
        grid.sync();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        words[blockIdx.x] = own;
}

/*
 * Does one round of work whenever the host counts *round up, until that is 0xffffffff; says of each block how far it
 * is.
 */
extern "C" __global__ void serve(volatile unsigned int *round, volatile unsigned int *done, unsigned int *out)
{
    __shared__ unsigned int now;
    for (unsigned int last = 0;; last = now) {
        __syncthreads();
        if (threadIdx.x == 0) {
            do
                now = load(round);
            while (now == last);
        }
        __syncthreads();
        if (now == 0xffffffffu)
            return;
        atomicAdd(&out[blockIdx.x], now * (threadIdx.x + 1));
        __syncthreads();
        if (threadIdx.x == 0)
            store(&done[blockIdx.x], now);
    }
}

/* Each block waits for the one after it: in a loop that has nothing in it, or in one that lets others run. */
extern "C" __global__ void last_first(unsigned int *flags, unsigned int *order, bool plain)
{
    if (plain && blockIdx.x + 1 < gridDim.x) {
        while (!load(&flags[blockIdx.x + 1]))
            ;
    } else if (blockIdx.x + 1 < gridDim.x) {
        cuda::atomic_ref<unsigned int, cuda::thread_scope_device> next(flags[blockIdx.x + 1]);
        while (next.load(cuda::memory_order_acquire) == 0)
            __nanosleep(100);
    }
    flags[gridDim.x + blockIdx.x] = atomicAdd(order, 1u);
    __threadfence();
    atomicExch(&flags[blockIdx.x], 1u);
}

/* Each thread of a block waits for the one after it. */
extern "C" __global__ void last_thread_first(unsigned int *turn, unsigned int *out)
{
    const unsigned int mine = blockDim.x - 1 - threadIdx.x;
    while (atomicCAS(turn, mine, mine) != mine)
        ;
    out[threadIdx.x] = mine;
    atomicAdd(turn, 1u);
}

/* Locks by atomicCAS, whose holder waits for the whole block in between. */
extern "C" __global__ void locked(unsigned int *lock, unsigned int *count, unsigned int times)
{
    for (unsigned int i = 0; i < times; i++) {
        while (atomicCAS(lock, 0u, 1u) != 0)
            ;
        const unsigned int before = *count;
        __nanosleep(1);
        *count = before + 1;
        __threadfence();
        atomicExch(lock, 0u);
    }
    __syncthreads();
}

/* Thread 5 of block 1 is the longest, in two parts. */
extern "C" __global__ void priced()
{
#ifdef VGPU
    const bool longest = blockIdx.x == 1 && threadIdx.x == 5;
    vgpu_cost_ns(longest ? 200000 : 1000);
    __syncthreads();
    vgpu_cost_ns(longest ? 50000 : 1000);
#endif
}

/* Block 1 traps; the others wait for it, and some of their threads for those that do. */
extern "C" __global__ void trap_one(const unsigned int *never)
{
    if (blockIdx.x == 1 && threadIdx.x == 1)
        __trap();
    if (blockIdx.x == 0 && threadIdx.x == 0)
        while (atomicAdd(const_cast<unsigned int *>(never), 0u) == 0)
            ;
    __syncthreads();
    cg::this_grid().sync();
}

/* A barrier at which half of the block never arrives. */
extern "C" __global__ void wait_for_nobody()
{
    if (threadIdx.x % 2)
        __syncthreads();
    else
        cg::this_grid().sync();
}
