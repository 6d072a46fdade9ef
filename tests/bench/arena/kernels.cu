/* SPDX-License-Identifier: MIT */

/* One word of each page that is in the list. */
extern "C" __global__ void touch(unsigned int *memory, const unsigned int *pages, unsigned int count,
                                 unsigned int value)
{
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        memory[pages[i] * 16384ull + i % 16384] = value;
}

/* Every word; @every: or so many apart. */
extern "C" __global__ void change(unsigned int *memory, unsigned long long words, unsigned int every,
                                  unsigned int value)
{
    const unsigned long long at_once = (unsigned long long)gridDim.x * blockDim.x * every;
    for (unsigned long long i = (blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x) * every; i < words;
         i += at_once)
        memory[i] = value;
}
