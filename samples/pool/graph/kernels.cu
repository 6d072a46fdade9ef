/* SPDX-License-Identifier: MIT */
#include "samples/pool/graph/tasks.h"
#include <ptsched/pool.cuh>

__device__ void scale(Scale &task, const ptsched::pool::Block &)
{
    for (unsigned int i = threadIdx.x; i < task.n; i += blockDim.x)
        task.y[i] = task.by * task.x[i] + 1;
}

extern "C" __global__ void scale_tasks(ptsched::pool::Slots slots)
{
    ptsched::pool::serve<scale>(slots);
}

/* The same as a launch. */
extern "C" __global__ void scale_launch(const float *x, float *y, unsigned int n, float by)
{
    for (unsigned int i = threadIdx.x; i < n; i += blockDim.x)
        y[i] = by * x[i] + 1;
}
