/* SPDX-License-Identifier: MIT */

/* c += a b, of n rows and columns: a thread for each element. Where there is no cuBLAS. */
extern "C" __global__ void multiply(const double *a, const double *b, double *c, unsigned int n)
{
    const unsigned int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n)
        return;
    double sum = c[row * n + column];
    for (unsigned int i = 0; i < n; i++)
        sum += a[row * n + i] * b[i * n + column];
    c[row * n + column] = sum;
}
