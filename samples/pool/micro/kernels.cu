/* SPDX-License-Identifier: MIT */
#include "samples/pool/micro/tasks.h"
#include <ptsched/pool.cuh>

using ptsched::pool::Block;
using ptsched::pool::Slots;

template <unsigned Bytes> __device__ void nothing(Nothing<Bytes> &, const Block &) {}

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

/* As one does whose function may have written more than its task. */
extern "C" __global__ void fenced24(Slots slots)
{
    ptsched::pool::serve<nothing<24>>(slots);
}

/* What a launch is measured with. */
extern "C" __global__ void empty() {}
