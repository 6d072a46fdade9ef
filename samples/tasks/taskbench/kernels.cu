/* SPDX-License-Identifier: MIT */
#include "samples/tasks/taskbench/kernels.cuh"

extern "C" __global__ void run_few(GpuTask<gpu_few_reads> task)
{
    run_task(task);
}

extern "C" __global__ void run_many(GpuTask<gpu_most_reads> task)
{
    run_task(task);
}
