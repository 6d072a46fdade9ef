// SPDX-License-Identifier: MIT
/*
 * The first launch of a new process: how long it takes from before the launch to after the wait, in us, as JSON. What
 * every program does before that, its context and the loading of its kernel, is not part of it.
 */
#include "tests/gpu/job.hpp"

#include <chrono>

namespace {

__global__ void spin(unsigned *data, unsigned rounds)
{
    unsigned x = *data;
    for (unsigned round = 0; round < rounds; round++)
        x = x * 1664525u + round;
    *data = x;
}

__device__ unsigned word;

double launch_us(unsigned *data)
{
    auto before = std::chrono::steady_clock::now();
    spin<<<1, 1>>>(data, 10000);
    check(cudaDeviceSynchronize(), "spin");
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - before).count();
}

} // namespace

int main()
{
    void *data;
    cudaFuncAttributes attributes;
    check(cudaFree(nullptr), "a context");
    check(cudaFuncGetAttributes(&attributes, spin), "the kernel");
    check(cudaGetSymbolAddress(&data, word), "its data");
    double first = launch_us(static_cast<unsigned *>(data));
    double second = launch_us(static_cast<unsigned *>(data));
    std::printf("{\"first_us\": %.1f, \"second_us\": %.1f}\n", first, second);
}
