/* SPDX-License-Identifier: MIT */
#include "tests/pool/tasks.h"
#include <ptsched/pool.cuh>

using ptsched::pool::Block;

__device__ void square(Square &task, const Block &)
{
    if (threadIdx.x == 0)
        task.result = task.value * task.value;
}

/* All threads have a part in it, and meet in between. */
__device__ void reverse(Reverse &task, const Block &)
{
    __shared__ unsigned int copy[64];
    for (unsigned int i = threadIdx.x; i < 64; i += blockDim.x)
        copy[i] = task.values[i];
    __syncthreads();
    for (unsigned int i = threadIdx.x; i < 64; i += blockDim.x)
        task.values[i] = copy[63 - i];
}

__device__ void wait(Wait &task, const Block &)
{
    if (threadIdx.x == 0) {
        ptsched::pool::detail::store(task.begun, 1u);
        while (!ptsched::pool::detail::load(task.flag))
            __nanosleep(100);
        task.seen = 1;
    }
}

__device__ void add(Add &task, const Block &)
{
    if (threadIdx.x == 0) {
        task.before = *task.at;
        *task.at += task.by;
    }
}

__device__ void trap(Trap &, const Block &)
{
    __trap();
}

extern "C" __global__ void squares(ptsched::pool::Slots slots)
{
    ptsched::pool::serve<square>(slots);
}

extern "C" __global__ void mixed(ptsched::pool::Slots slots)
{
    ptsched::pool::serve<square, reverse, wait, add, trap>(slots);
}

__device__ void multiply(Multiply &task, const Block &)
{
    for (unsigned int i = threadIdx.x; i < task.n; i += blockDim.x)
        task.y[i] = task.by * task.x[i];
}

__device__ void increment(Increment &task, const Block &)
{
    for (unsigned int i = threadIdx.x; i < task.n; i += blockDim.x) {
        if (task.x[i] < 0)
            __trap();
        task.x[i]++;
    }
    if (threadIdx.x == 0)
        *task.where = reinterpret_cast<unsigned long long>(task.x);
}

extern "C" __global__ void graph_tasks(ptsched::pool::Slots slots)
{
    ptsched::pool::serve<multiply, increment>(slots);
}

/* The same as a launch. */
extern "C" __global__ void increment_all(int *x, unsigned long long *where, unsigned int n)
{
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i]++;
    if (i == 0)
        *where = reinterpret_cast<unsigned long long>(x);
}
