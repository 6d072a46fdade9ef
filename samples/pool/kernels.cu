/* SPDX-License-Identifier: MIT */
#include "samples/pool/tasks.h"
#include <ptsched/pool.cuh>

using ptsched::pool::Block;
using ptsched::pool::Slots;

template <unsigned Bytes> __device__ void nothing(Nothing<Bytes> &, const Block &) {}

__device__ void spin(Spin &task, const Block &)
{
    const long long until = clock64() + task.cycles;
    while (clock64() < until)
        ;
}

extern "C" __global__ void nothing16(Slots slots)
{
    ptsched::pool::serve<ptsched::pool::only_task<nothing<16>>>(slots);
}

extern "C" __global__ void nothing24(Slots slots)
{
    ptsched::pool::serve<ptsched::pool::only_task<nothing<24>>>(slots);
}

extern "C" __global__ void nothing64(Slots slots)
{
    ptsched::pool::serve<ptsched::pool::only_task<nothing<64>>>(slots);
}

extern "C" __global__ void nothing128(Slots slots)
{
    ptsched::pool::serve<ptsched::pool::only_task<nothing<128>>>(slots);
}

extern "C" __global__ void nothing256(Slots slots)
{
    ptsched::pool::serve<ptsched::pool::only_task<nothing<256>>>(slots);
}

extern "C" __global__ void spinning(Slots slots)
{
    ptsched::pool::serve<spin>(slots);
}

/* What a launch is measured with. */
extern "C" __global__ void empty() {}
