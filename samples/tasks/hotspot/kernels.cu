/* SPDX-License-Identifier: MIT */
#include "samples/tasks/hotspot/chip.h"

using namespace ptsched::hotspot;

/*
 * A step of a band of rows; the row above it is the last one of another band, that below the first one of another. The
 * chip's first and last bands have none, and a cell at an edge is its own neighbour. A thread for each cell.
 */
extern "C" __global__ void heat_band(Chip chip, const float *above, const float *old, const float *below,
                                     const float *power, float *made, unsigned int rows, unsigned int columns,
                                     unsigned int is_first, unsigned int is_last)
{
    const unsigned int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column >= columns)
        return;
    const unsigned int i = row * columns + column;
    const float own = old[i];
    float up = own, down = own;
    if (row)
        up = old[i - columns];
    else if (!is_first)
        up = above[(rows - 1) * columns + column];
    if (row + 1 < rows)
        down = old[i + columns];
    else if (!is_last)
        down = below[column];
    const float left = column ? old[i - 1] : own, right = column + 1 < columns ? old[i + 1] : own;
    made[i] = next(chip, own, left, right, up, down, power[i]);
}
