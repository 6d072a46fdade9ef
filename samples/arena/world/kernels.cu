/* SPDX-License-Identifier: MIT */
#include "samples/arena/world/rays.h"

using namespace ptsched::world;

namespace {

template <typename View> __device__ void draw(const View &view, const Frame *frame, unsigned int *pixels)
{
    const unsigned int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < frame->width && y < frame->height)
        pixels[y * frame->width + x] = pixel_of(ByGraph<View>{view}, *frame, x, y);
}

} // namespace

extern "C" __global__ void __launch_bounds__(block_side *block_side)
    draw_linked(LinkedView view, const Frame *frame, unsigned int *pixels)
{
    draw(view, frame, pixels);
}

extern "C" __global__ void __launch_bounds__(block_side *block_side)
    draw_flat(FlatView view, const Frame *frame, unsigned int *pixels)
{
    draw(view, frame, pixels);
}
