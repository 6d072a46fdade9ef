/* SPDX-License-Identifier: MIT */
/* What kernels allocate blocks from: a parameter of theirs, which KernelBlocks::view() makes (arena.hpp, arena.cuh). */
#ifndef PTSCHED_ARENA_KERNEL_HEAP_H
#define PTSCHED_ARENA_KERNEL_HEAP_H

namespace ptsched::arena {

/* Blocks of one size, side by side; kernels take the next. In the GPU's own memory. */
struct KernelKind {
    unsigned long long begin;
    unsigned int bytes, count;
    unsigned int next; /* may be more than there are */
    unsigned int unused;
};

struct KernelHeap {
    KernelKind *kinds; /* smaller ones first */
    unsigned int kind_count;
    unsigned int most_returned;
    unsigned int *returned_count; /* may be more than there is room for */
    unsigned long long *returned;
};

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_KERNEL_HEAP_H */
