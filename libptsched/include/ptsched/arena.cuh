/* SPDX-License-Identifier: MIT */
/*
 * Arenas as kernels see them (arena.hpp): blocks that they allocate, of those that the host has handed out, and
 *pointers that mean the same on both sides. For nvcc, NVRTC and the virtual GPU.
 *
 *	extern "C" __global__ void grow(ptsched::arena::KernelHeap heap, Node **lists)
 *	{
 *		auto *node = ptsched::arena::allocate<Node>(heap);
 *		if (!node)
 *			return;
 *		node->next = lists[threadIdx.x];
 *		lists[threadIdx.x] = node;
 *	}
 *
 * Once the kernel has ended, and the host has called collect() and acquired the arena, such a block is one like all
 * others of the arena there.
 */
#ifndef PTSCHED_ARENA_CUH
#define PTSCHED_ARENA_CUH

#include <ptsched/arena/kernel_heap.h>
#include <ptsched/arena/shared.hpp>
#include <ptsched/arena/sync.hpp>

namespace ptsched::arena {

namespace detail {

/* Between looks at what others change, in nanoseconds. */
constexpr unsigned int nap = 200;

#ifdef VGPU
inline void store(unsigned int *word, unsigned int value)
{
    __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

inline unsigned int load(const unsigned int *word)
{
    return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}
#else
__device__ inline void store(unsigned int *word, unsigned int value)
{
    *const_cast<volatile unsigned int *>(word) = value;
    __threadfence_system();
}

__device__ inline unsigned int load(const unsigned int *word)
{
    return *const_cast<const volatile unsigned int *>(word);
}
#endif

} // namespace detail

/* At a multiple of 16; null if none of that size is left, or so large ones were not handed out. */
__device__ inline void *allocate(const KernelHeap &heap, unsigned long long bytes)
{
    for (unsigned int i = 0; i < heap.kind_count; i++) {
        KernelKind &kind = heap.kinds[i];
        if (kind.bytes < bytes)
            continue;
        /* It does not come round to 0 again. */
        if (*const_cast<volatile unsigned int *>(&kind.next) >= kind.count)
            continue;
        const unsigned int block = atomicAdd(&kind.next, 1u);
        if (block < kind.count)
            return reinterpret_cast<void *>(kind.begin + static_cast<unsigned long long>(block) * kind.bytes);
    }
    return nullptr;
}

/* Not constructed. */
template <typename T> __device__ T *allocate(const KernelHeap &heap, unsigned int count = 1)
{
    static_assert(alignof(T) <= 16, "blocks are at multiples of 16");
    return static_cast<T *>(allocate(heap, static_cast<unsigned long long>(count) * sizeof(T)));
}

/*
 * Of a block of the same arena, whoever allocated it: it is free once the host has called collect(). False if that has
 * been done so often since the last that there is no room for one more: the block stays allocated.
 */
__device__ inline bool deallocate(const KernelHeap &heap, const void *block)
{
    if (!block)
        return true;
    if (*const_cast<volatile unsigned int *>(heap.returned_count) >= heap.most_returned)
        return false;
    const unsigned int place = atomicAdd(heap.returned_count, 1u);
    if (place >= heap.most_returned)
        return false;
    heap.returned[place] = reinterpret_cast<unsigned long long>(block);
    return true;
}

/* One thread of all. Those of a warp come one after another. */
__device__ inline void lock(Mutex &mutex)
{
    detail::HostWords &words = *mutex.words().host;
    while (atomicCAS(&mutex.words().gpu->lock, 0u, 1u))
        __nanosleep(detail::nap);
    detail::store(&words.gpu_wants, 1u);
    detail::store(&words.turn, detail::turn_of_host);
    while (detail::load(&words.host_wants) && detail::load(&words.turn) == detail::turn_of_host)
        __nanosleep(detail::nap);
    __threadfence_system();
}

__device__ inline void unlock(Mutex &mutex)
{
    __threadfence_system();
    detail::store(&mutex.words().host->gpu_wants, 0u);
    atomicExch(&mutex.words().gpu->lock, 0u);
}

/* Returns when all threads have come for whom the barrier is, on both sides. */
__device__ inline void arrive_and_wait(Barrier &barrier)
{
    detail::HostWords &words = *barrier.words().host;
    __threadfence_system();
    const unsigned int number = atomicAdd(&barrier.words().gpu->arrived, 1u);
    const unsigned int generation = number / barrier.gpu_threads() + 1;
    if ((number + 1) % barrier.gpu_threads() == 0)
        detail::store(&words.gpu_generation, generation);
    while (detail::load(&words.gpu_generation) < generation || detail::load(&words.host_generation) < generation)
        __nanosleep(detail::nap);
    __threadfence_system();
}

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_CUH */
