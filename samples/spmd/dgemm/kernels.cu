/* SPDX-License-Identifier: MIT */

/* c = a b: a thread for each element. Where there is no cuBLAS. */
extern "C" __global__ void multiply(const double *a, const double *b, double *c, unsigned int rows, unsigned int inner,
                                    unsigned int columns)
{
    const unsigned int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || column >= columns)
        return;
    double sum = 0;
    for (unsigned int i = 0; i < inner; i++)
        sum += a[static_cast<unsigned long long>(row) * inner + i] *
               b[static_cast<unsigned long long>(i) * columns + column];
    c[static_cast<unsigned long long>(row) * columns + column] = sum;
}
