/* SPDX-License-Identifier: MIT */
#include "samples/pool/irregular/tree.h"
#include <ptsched/pool.cuh>

namespace {

using ptsched::irregular::Node;

__device__ void search(Node &node, const ptsched::pool::Block &)
{
    unsigned long long sum = work(node, threadIdx.x);
    for (unsigned int with = ptsched::irregular::lanes / 2; with; with /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, static_cast<int>(with));
    if (threadIdx.x)
        return;
    node.value = sum;
    node.children = count_children(node);
}

} // namespace

extern "C" __global__ void irregular(ptsched::pool::Slots slots)
{
    ptsched::pool::serve<ptsched::pool::only_task<search>>(slots);
}
