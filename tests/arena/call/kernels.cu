/* SPDX-License-Identifier: MIT */
#include "tests/arena/call/types.h"
#include <ptsched/arena/call.cuh>

using ptsched::arena::Here;
using ptsched::arena::RemotePointer;
using ptsched::arena::Reply;
using ptsched::arena::Status;

/* To the values of a list's nodes, each by one thread. */
__device__ void add_to_all(Node *list, unsigned long long more)
{
    unsigned int i = 0;
    for (Node *node = list; node; node = node->next)
        if (i++ % blockDim.x == threadIdx.x)
            node->value += more;
}

/* What the host has written meanwhile, after it was told what to add. */
__device__ unsigned long long tell_and_hear(const Here &here, Node *node, unsigned long long value)
{
    if (threadIdx.x)
        return 0;
    node->value = value;
    const auto reply = ptsched::arena::call_host<"double_it", int(Node *)>(here, node);
    return reply ? node->next->value : 0;
}

__device__ int add(int a, int b)
{
    return a + b;
}

__device__ void put(unsigned long long *at, unsigned long long value)
{
    if (threadIdx.x == 0)
        *at = value;
}

/* All threads have a part in it. */
__device__ unsigned long long sum(const unsigned long long *values, unsigned int count)
{
    __shared__ unsigned long long parts[1024];
    parts[threadIdx.x] = 0;
    for (unsigned int i = threadIdx.x; i < count; i += blockDim.x)
        parts[threadIdx.x] += values[i];
    __syncthreads();
    unsigned long long all = 0;
    for (unsigned int i = 0; i < blockDim.x; i++)
        all += parts[i];
    return all;
}

/* Rotates: arguments and result lie beside the slot. */
__device__ Large rotate(Large from, unsigned int by)
{
    Large to;
    for (unsigned int i = 0; i < 100; i++)
        to.words[(i + by) % 100] = from.words[i];
    return to;
}

__device__ Pair swap(char first, Pair pair, short last)
{
    return {first + last, pair.a + pair.b};
}

__device__ unsigned long long walk(Node *list)
{
    unsigned long long all = 0;
    for (Node *node = list; node; node = node->next)
        all += node->value;
    return all;
}

/* Spread over blocks: each of their threads adds one. */
__device__ unsigned int count_threads(const Here &here, unsigned int *counter, Large)
{
    atomicAdd(counter, 1u);
    return here.size();
}

/* What the host's functions return, added up over all threads. */
__device__ void ask_all(const Here &here, unsigned long long *total, unsigned int each)
{
    for (unsigned int i = 0; i < each; i++) {
        const unsigned long long value = here.rank() * each + i;
        const auto twice = ptsched::arena::call_host<"twice", unsigned long long(unsigned long long)>(here, value);
        if (twice && twice.value == 2 * value)
            atomicAdd(total, 1ull);
    }
}

__device__ Status ask(const Here &here, int what)
{
    if (threadIdx.x)
        return Status::done;
    switch (what) {
    case 0:
        return ptsched::arena::call_host<"throws", void()>(here).status;
    case 1:
        return ptsched::arena::call_host<"twise", int(int)>(here, 1).status;
    case 2:
        return ptsched::arena::call_host<"twice", int(int)>(here, 1).status;
    case 3:
        return ptsched::arena::allocate(here, 100).status;
    case 4:
        return ptsched::arena::call_host<"is_one", bool(const int *)>(here, &*reinterpret_cast<int *>(4096)).status;
    default:
        return ptsched::arena::call_host<"reverse", Large *(Large *)>(here, nullptr).status;
    }
}

/* By a pointer, to a function of either side. */
__device__ int apply(const Here &here, RemotePointer<int(int, int)> function, int a, int b)
{
    const Reply<int> reply = ptsched::arena::call(here, function, a, b);
    return reply ? reply.value : -1;
}

/* The host calls back, and again, so often. */
__device__ int deeper(const Here &here, int depth)
{
    if (threadIdx.x || !depth)
        return 0;
    const auto reply = ptsched::arena::call_host<"go_deeper", int(int)>(here, depth - 1);
    return reply ? reply.value + 1 : -1000;
}

__device__ void say(const Here &here, int number, double real, const int *address)
{
    if (threadIdx.x == 0)
        ptsched::arena::log(here, "%d and %u, %.2f at %p: 100%%, %s %5x|\n", number, 7u, real, address, 1, 255ul);
}

__device__ long load(const Here &here, char *to, unsigned long bytes)
{
    if (threadIdx.x)
        return 0;
    const auto reply = ptsched::arena::read_file(here, "/proc/self/cmdline", 2, to, bytes);
    return reply ? reply.value : -1000;
}

/* A list of memory that the host's allocator gives. */
__device__ Node *make_list(const Here &here, unsigned int length)
{
    Node *list = nullptr;
    for (unsigned int i = 0; i < length && threadIdx.x == 0; i++) {
        const auto memory = ptsched::arena::allocate(here, sizeof(Node), alignof(Node));
        if (!memory || !memory.value)
            return nullptr;
        auto *node = static_cast<Node *>(memory.value);
        *node = {list, i};
        list = node;
    }
    return list;
}

/* Waits until *flag is not 0; words in the host's memory. */
__device__ void wait(unsigned int *begun, const unsigned int *flag)
{
    if (threadIdx.x == 0) {
        ptsched::pool::detail::store(begun, 1u);
        while (!ptsched::pool::detail::load(flag))
            __nanosleep(100);
    }
}

__device__ void trap()
{
    __trap();
}

PTSCHED_ARENA_FUNCTIONS(kernels, add_to_all, tell_and_hear, add, put, sum, rotate, swap, walk, count_threads, ask_all,
                        ask, apply, deeper, say, load, make_list, wait, trap)
extern "C" __global__ void kernels(ptsched::pool::Slots slots)
{
    kernels_functions::serve(slots);
}
extern "C" __global__ void kernels_spread(ptsched::arena::SpreadCall call)
{
    kernels_functions::spread(call);
}

/* The program's own, which calls the host too. */
extern "C" __global__ void launched(ptsched::arena::Line line, unsigned long long *total, unsigned int each)
{
    ask_all(ptsched::arena::here_of(line), total, each);
}

extern "C" __global__ void launched_fails(ptsched::arena::Line line)
{
    ask(ptsched::arena::here_of(line), 0);
}

/* Its list is said by a kernel, as by a driver that does not find the variable. */
extern "C" __global__ void described(ptsched::pool::Slots slots)
{
    kernels_functions::serve(slots);
}
extern "C" __global__ void described_describe(ptsched::arena::detail::Description<kernels_functions::count> *to)
{
    *to = kernels_names;
}

/* No list comes with it. */
extern "C" __global__ void unlisted(ptsched::pool::Slots slots)
{
    kernels_functions::serve(slots);
}
