/* SPDX-License-Identifier: MIT */
#include "samples/pool/cholesky/tiles.cuh"
#include <ptsched/pool.cuh>

extern __shared__ __align__(16) unsigned char memory[];

namespace {

__device__ void do_step(cholesky::Step &step, const ptsched::pool::Block &)
{
    cholesky::do_step(step, reinterpret_cast<ptsched::samples::Tile<double> *>(memory));
}

} // namespace

extern "C" __global__ void __launch_bounds__(128, 2) steps(ptsched::pool::Slots slots)
{
    ptsched::pool::serve<do_step>(slots);
}
