/* SPDX-License-Identifier: MIT */
#include "samples/pool/mixed/work.h"
#include <ptsched/pool.cuh>

namespace {

using namespace ptsched::mixed;

__device__ void multiply_part(Multiply &task, const ptsched::pool::Block &)
{
    const Matrix matrix = task.problem->matrix;
    multiply(matrix, task.first, task.last);
}

__device__ void price_part(Price &task, const ptsched::pool::Block &)
{
    const Options options = task.problem->options;
    price(options, task.first, task.last);
}

} // namespace

/* As many threads on a multiprocessor as may be: who waits for memory needs them. */
extern "C" __global__ void __launch_bounds__(1024, 2) mixed(ptsched::pool::Slots slots)
{
    ptsched::pool::serve<multiply_part, price_part>(slots);
}

/* Three quarters of them, with more registers. */
extern "C" __global__ void __launch_bounds__(512, 3) mixed_roomy(ptsched::pool::Slots slots)
{
    ptsched::pool::serve<multiply_part, price_part>(slots);
}
