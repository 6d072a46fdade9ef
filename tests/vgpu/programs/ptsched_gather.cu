// SPDX-License-Identifier: MIT
// What libptsched/device/gather.cpp has in PTX, for the virtual GPU.

struct Word {
    unsigned int parts[4];
};

struct Pieces {
    struct {
        Word *to;
        const Word *from;
        unsigned long long words;
    } entries[64];
};

extern "C" __global__ void ptsched_gather(Pieces pieces)
{
    const auto &piece = pieces.entries[blockIdx.y];
    const unsigned int first = blockIdx.x * blockDim.x * 4 + threadIdx.x;
    for (unsigned int i = first; i < first + 4 * blockDim.x && i < piece.words; i += blockDim.x)
        piece.to[i] = piece.from[i];
}
