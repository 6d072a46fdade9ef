// SPDX-License-Identifier: MIT
/* Kernels that add 1 to a number. Most are at fault if it is negative, each in the way that it is named after. */

#include <cassert>
#include <cstdint>

extern "C" __global__ void sound(int *x)
{
    ++*x;
}

extern "C" __global__ void illegal_address(int *x)
{
    if (*x < 0)
        *reinterpret_cast<volatile int *>(static_cast<std::uintptr_t>(4096)) = 1;
    ++*x;
}

extern "C" __global__ void failed_assertion(int *x)
{
    assert(*x >= 0);
    ++*x;
}

extern "C" __global__ void trap(int *x)
{
    if (*x < 0)
        __trap();
    ++*x;
}
