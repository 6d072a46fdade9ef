/* SPDX-License-Identifier: MIT */
#include "samples/pool/citizen/tasks.h"
#include <ptsched/pool.cuh>

using ptsched::pool::Block;
using ptsched::pool::Slots;

__device__ unsigned long long walk(unsigned long long value, unsigned int steps)
{
    for (unsigned int i = 0; i < steps; i++)
        value = value * step_factor + step_summand;
    return value;
}

__device__ void chain(Chain &task, const Block &)
{
    if (threadIdx.x == 0)
        task.value = walk(task.value, task.steps);
}

__device__ void nothing(Nothing &, const Block &) {}

extern "C" __global__ void chains(Slots slots)
{
    ptsched::pool::serve<ptsched::pool::only_task<chain>>(slots);
}

extern "C" __global__ void nothings(Slots slots)
{
    ptsched::pool::serve<ptsched::pool::only_task<nothing>>(slots);
}

/* The work of who has no pool. */
extern "C" __global__ void one_chain(unsigned long long *value, unsigned int steps)
{
    if (threadIdx.x == 0)
        *value = walk(*value, steps);
}
