// SPDX-License-Identifier: MIT
// What libptsched/device/pieces.cpp has in PTX, for the virtual GPU.

struct Word {
    unsigned int parts[4];
};

struct Entry {
    Word *to;
    const Word *from;
    unsigned long long words;
};

extern "C" __global__ void ptsched_pieces(const Entry *entries)
{
    const Entry &piece = entries[blockIdx.y];
    const unsigned int first = blockIdx.x * blockDim.x * 4 + threadIdx.x;
    for (unsigned int i = first; i < first + 4 * blockDim.x && i < piece.words; i += blockDim.x)
        piece.to[i] = piece.from[i];
}
