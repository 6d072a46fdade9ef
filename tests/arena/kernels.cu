// SPDX-License-Identifier: MIT
/* What kernels do in the tests of arenas: lists are walked by one thread each. */
#include "tests/arena/nodes.h"
#include <ptsched/arena.cuh>

using ptsched::arena::KernelHeap;

/* *sum: of all values; each node gets what it had and @add. */
extern "C" __global__ void walk(Node *list, unsigned int add, unsigned long long *sum)
{
    unsigned long long all = 0;
    for (Node *node = list; node; node = node->next) {
        all += node->value;
        node->written = node->value + add;
    }
    *sum = all;
}

/* A list of so many nodes for each thread, the last in front. How many there was memory for: *made. */
extern "C" __global__ void build(KernelHeap heap, Node **lists, unsigned int length, unsigned int *made)
{
    const unsigned int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned int i = 0; i < length; i++) {
        Node *node = ptsched::arena::allocate<Node>(heap);
        if (!node)
            return;
        node->value = thread * length + i;
        node->written = 0;
        node->next = lists[thread];
        lists[thread] = node;
        atomicAdd(made, 1u);
    }
}

/* One that is too large, and one larger than nodes: *got. */
extern "C" __global__ void sizes(KernelHeap heap, void **got)
{
    got[0] = ptsched::arena::allocate(heap, 1000000);
    got[1] = ptsched::arena::allocate(heap, 100);
    got[2] = ptsched::arena::allocate(heap, 0);
}

/* All nodes of a list; how many were taken back: *back. */
extern "C" __global__ void give_back(KernelHeap heap, Node *list, unsigned int *back)
{
    while (list) {
        Node *next = list->next;
        if (ptsched::arena::deallocate(heap, list))
            atomicAdd(back, 1u);
        list = next;
    }
}

/* Of so many words, those with an odd number. */
extern "C" __global__ void write_odd(unsigned int *words, unsigned int count, unsigned int value)
{
    for (unsigned int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1; i < count; i += 2 * gridDim.x * blockDim.x)
        words[i] = value + i;
}

/* *count has been counted up so often by each thread, one after another. */
extern "C" __global__ void count_up(ptsched::arena::Mutex *mutex, unsigned int *count, unsigned int times)
{
    for (unsigned int i = 0; i < times; i++) {
        ptsched::arena::lock(*mutex);
        volatile unsigned int *word = count;
        *word = *word + 1;
        ptsched::arena::unlock(*mutex);
    }
}

/* Each of so many rounds, a thread notes which it is in. */
extern "C" __global__ void rounds(ptsched::arena::Barrier *barrier, unsigned int *words, unsigned int times)
{
    for (unsigned int i = 1; i <= times; i++) {
        static_cast<volatile unsigned int *>(words)[threadIdx.x] = i;
        ptsched::arena::arrive_and_wait(*barrier);
        ptsched::arena::arrive_and_wait(*barrier);
    }
}
