// SPDX-License-Identifier: MIT
/* What libptsched/device/pieces.cpp has in PTX, for the virtual GPU. */

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
    const unsigned int at_once = 4 * blockDim.x, first = blockIdx.x * at_once + threadIdx.x;
    for (unsigned long long next = first; next < piece.words; next += gridDim.x * at_once)
        for (unsigned long long i = next; i < next + at_once && i < piece.words; i += blockDim.x)
            piece.to[i] = piece.from[i];
}
