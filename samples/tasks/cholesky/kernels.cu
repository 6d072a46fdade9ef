/* SPDX-License-Identifier: MIT */
/* Steps with tiles of n rows and columns, where there is no cuBLAS. */

/* The lower triangle becomes its factor. By one thread block, with a thread for each row. */
extern "C" __global__ void factor(double *a, unsigned int n)
{
    const unsigned int row = threadIdx.x;
    for (unsigned int k = 0; k < n; k++) {
        if (row == k)
            a[k * n + k] = sqrt(a[k * n + k]);
        __syncthreads();
        if (row > k)
            a[row * n + k] /= a[k * n + k];
        __syncthreads();
        for (unsigned int column = k + 1; column <= row; column++)
            a[row * n + column] -= a[row * n + k] * a[column * n + k];
        __syncthreads();
    }
}

/* a becomes the x for which x l' = a. A thread for each row. */
extern "C" __global__ void solve(const double *l, double *a, unsigned int n)
{
    const unsigned int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n)
        return;
    for (unsigned int column = 0; column < n; column++) {
        double sum = a[row * n + column];
        for (unsigned int i = 0; i < column; i++)
            sum -= a[row * n + i] * l[column * n + i];
        a[row * n + column] = sum / l[column * n + column];
    }
}

/* c -= a b'. A thread for each element. */
extern "C" __global__ void update(const double *a, const double *b, double *c, unsigned int n)
{
    const unsigned int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n)
        return;
    double sum = c[row * n + column];
    for (unsigned int i = 0; i < n; i++)
        sum -= a[row * n + i] * b[column * n + i];
    c[row * n + column] = sum;
}
