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

extern "C" __global__ void mixed(ptsched::pool::Slots slots)
{
    ptsched::pool::serve<multiply_part, price_part>(slots);
}
