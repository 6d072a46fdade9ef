/* SPDX-License-Identifier: MIT */
#include <ptsched/arena/call.cuh>

using ptsched::arena::Here;

__device__ void nothing() {}

__device__ int add(int a, int b)
{
    return a + b;
}

/* One thread calls the host so often, one call after another; returns how many were answered rightly. */
__device__ unsigned int ask(const Here &here, unsigned int count)
{
    unsigned int right = 0;
    for (unsigned int i = 0; i < count && threadIdx.x == 0; i++) {
        const auto next = ptsched::arena::call_host<"next", unsigned int(unsigned int)>(here, i);
        right += next && next.value == i + 1;
    }
    return right;
}

/* All threads do; each adds what it got. */
__device__ void ask_all(const Here &here, unsigned long long *right, unsigned int count)
{
    for (unsigned int i = 0; i < count; i++) {
        const unsigned int value = here.rank() + i;
        const auto next = ptsched::arena::call_host<"next", unsigned int(unsigned int)>(here, value);
        if (next && next.value == value + 1)
            atomicAdd(right, 1ull);
    }
}

PTSCHED_ARENA_FUNCTIONS(kernels, nothing, add, ask, ask_all)
extern "C" __global__ void kernels(ptsched::pool::Slots slots)
{
    kernels_functions::serve(slots);
}
extern "C" __global__ void kernels_spread(ptsched::arena::SpreadCall call)
{
    kernels_functions::spread(call);
}

/* What a launch is measured with. */
extern "C" __global__ void empty() {}
