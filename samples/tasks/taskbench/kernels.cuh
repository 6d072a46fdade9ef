/* SPDX-License-Identifier: MIT */
/* A task of one block, which the library and what is by hand run both. */
#ifndef SAMPLES_TASKBENCH_KERNELS_CUH
#define SAMPLES_TASKBENCH_KERNELS_CUH

#include "samples/tasks/taskbench/cell.h"

/* Each iteration needs the one before it: its time does not depend on what else the processor has to do. */
__device__ inline double spin(double value, unsigned long iterations)
{
    float x = static_cast<float>(value);
    for (unsigned long i = 0; i < iterations; i++)
        x = x * 0.999f + 0.5f;
    return x;
}

template <unsigned most> __device__ void run_task(const GpuTask<most> &task)
{
#ifdef VGPU
    vgpu_cost_ns(1000 + 2 * task.iterations);
#endif
    for (unsigned i = threadIdx.x; i < task.reads; i += blockDim.x)
        if (task.in[i]->step + 1 != task.step || task.in[i]->point != task.in_points[i])
            *task.wrong = 1;
    const double value = spin(task.point, task.iterations);
    if (threadIdx.x == 0)
        *task.out = Cell{task.step, task.point, value};
}

#endif /* SAMPLES_TASKBENCH_KERNELS_CUH */
