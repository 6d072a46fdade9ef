/* SPDX-License-Identifier: MIT */

/* y = A x of some rows: a warp for each. */
extern "C" __global__ void __launch_bounds__(256)
    multiply(const float *a, const float *x, float *y, unsigned int rows, unsigned int columns)
{
    const unsigned int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows)
        return;
    const float *const own = a + static_cast<unsigned long long>(row) * columns;
    float sum = 0;
    for (unsigned int column = lane; column < columns; column += 32)
        sum += own[column] * x[column];
    for (unsigned int distance = 16; distance; distance /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (lane == 0)
        y[row] = sum;
}
