/* SPDX-License-Identifier: MIT */
/* Words that kernels and the host, or blocks, write while others look at them. */
#ifndef VGPU_HOST_WORDS_H
#define VGPU_HOST_WORDS_H

__device__ inline void store(volatile unsigned int *word, unsigned int value)
{
#ifdef VGPU
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
#else
    __threadfence_system();
    *word = value;
#endif
}

__device__ inline unsigned int load(const volatile unsigned int *word)
{
#ifdef VGPU
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
#else
    return *word;
#endif
}

#endif /* VGPU_HOST_WORDS_H */
