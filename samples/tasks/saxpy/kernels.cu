/* SPDX-License-Identifier: MIT */

extern "C" __global__ void saxpy(float a, const float *x, float *y, unsigned int count)
{
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        y[i] += a * x[i];
}
