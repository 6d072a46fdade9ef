// SPDX-License-Identifier: MIT
/*
 * What libptsched/device/multiply_add.cpp has in PTX, for the virtual GPU: as long as that takes where a round takes a
 * thread 64 ns, without computing anything.
 */

extern "C" __global__ void ptsched_multiply_add(float *, unsigned int rounds)
{
    if (!threadIdx.x)
        vgpu_cost_ns(64ull * rounds);
}
