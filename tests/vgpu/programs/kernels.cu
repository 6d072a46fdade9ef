// SPDX-License-Identifier: MIT
/* Kernels with results that can be checked, for the virtual GPU (vgpu-cc) and for a real one (nvcc). */
#include "tests/vgpu/programs/host_words.h"

/* One step of a linear congruential generator: each step needs the one before. */
__host__ __device__ inline unsigned int spin_step(unsigned int x)
{
    return x * 1664525u + 1013904223u;
}

/* Does `iterations` dependent steps from the thread's number on, and keeps the device for ns. */
extern "C" __global__ void spin(unsigned int *out, unsigned long long ns, unsigned int iterations)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int x = i;
#ifdef VGPU
    vgpu_cost_ns(ns);
#else
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
#endif
    for (unsigned int step = 0; step < iterations; step++)
        x = spin_step(x);
#ifndef VGPU
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < ns);
#endif
    out[i] = x;
}

extern "C" __global__ void vector_add(const float *a, const float *b, float *c, unsigned int n)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

extern "C" __global__ void matmul(const float *a, const float *b, float *c, unsigned int n)
{
    unsigned int row = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n)
        return;
    float sum = 0;
    for (unsigned int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

/* *counter += value, once per thread. */
extern "C" __global__ void count(unsigned int *counter, unsigned int value)
{
    atomicAdd(counter, value);
}

/* Runs until the host writes to *flag: what a resident kernel does. */
extern "C" __global__ void wait_for_host(volatile unsigned int *flag, unsigned int *seen)
{
#ifdef VGPU
    vgpu_waits();
#endif
    while (!load(flag))
        ;
    *seen = load(flag);
}

__device__ unsigned int remembered;

/* What the launch before was told, and what the next is to know. */
extern "C" __global__ void remember(unsigned int value, unsigned int *before)
{
    *before = remembered;
    remembered = value;
}
