// SPDX-License-Identifier: MIT
/* Kernels for graphs: blocks changed in place, outputs whose size is computed, loops. */

__device__ inline unsigned int index()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

/* Adds 1 to each of n numbers, and tells where they are. */
extern "C" __global__ void increment(int *x, unsigned long long *where, unsigned int n)
{
    unsigned int i = index();
    if (i < n)
        x[i]++;
    if (!i)
        *where = (unsigned long long)x;
}

/* Adds 1 to a number, tells where it is, and takes so long. */
extern "C" __global__ void increment_slowly(int *x, unsigned long long *where, unsigned long long ns)
{
#ifdef VGPU
    vgpu_cost_ns(ns);
#endif
    ++*x;
    *where = (unsigned long long)x;
}

/* The number after each, unless it is negative. */
extern "C" __global__ void successor_of_natural(int *x)
{
    if (x[index()] < 0)
        __trap();
    x[index()]++;
}

/* How many of n numbers are not 0. */
extern "C" __global__ void count_set(const int *x, unsigned int *count, unsigned int n)
{
    unsigned int i = index();
    if (i < n && x[i])
        atomicAdd(count, 1u);
}

/* Those of n numbers that are not 0. */
extern "C" __global__ void select_set(const int *x, int *y, unsigned int n)
{
    if (index())
        return;
    for (unsigned int i = 0, k = 0; i < n; i++)
        if (x[i])
            y[k++] = x[i];
}

/* The first of some numbers, as many as there are to be. */
extern "C" __global__ void first_numbers(const int *x, const unsigned int *count, int *y)
{
    unsigned int i = index();
    if (i < *count)
        y[i] = x[i];
}

/* One step of a loop that halves until there is 1, and counts its rounds. */
extern "C" __global__ void halve(int *x, int *rounds, unsigned int *again)
{
    if (index())
        return;
    if (*x > 1) {
        *x /= 2;
        ++*rounds;
    }
    *again = *x > 1;
}

/* Adds 1 to each of n numbers. */
extern "C" __global__ void successor(int *x, unsigned int n)
{
    unsigned int i = index();
    if (i < n)
        x[i]++;
}

__constant__ int table[4];
__constant__ int offset;

/* y = table[x] + offset */
extern "C" __global__ void look_up(const int *x, int *y, unsigned int n)
{
    unsigned int i = index();
    if (i < n)
        y[i] = table[x[i] & 3] + offset;
}

extern "C" __global__ void add_ints(const int *a, const int *b, int *c, unsigned int n)
{
    unsigned int i = index();
    if (i < n)
        c[i] = a[i] + b[i];
}
