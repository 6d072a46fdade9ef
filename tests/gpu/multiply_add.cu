// SPDX-License-Identifier: MIT
/* y += a x, for compiled_graph.cpp. */

extern "C" __global__ void multiply_add(float *y, const float *x, float a, unsigned int n)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}
