/* SPDX-License-Identifier: MIT */
/*
 * What a .cu file sees when it is compiled for the host (tests/vgpu/vgpu-cc): the qualifiers, the built-in variables
 * and functions, and a way to say what the kernel costs on the virtual device. Kernels are looked up by their plain
 * names.
 *
 * A block stays on one thread of the host, which is what makes thread_local a block's shared memory.
 */
#ifndef VGPU_CUDA_H
#define VGPU_CUDA_H

#include "vgpu_module.h"
#include "vgpu_vectors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <type_traits>
#include <utility>

#define VGPU 1
#define __global__
#define __device__ __attribute__((visibility("default")))
#define __host__
#define __constant__ __device__
#define __managed__ __device__
#define __shared__ thread_local
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

struct dim3 : vgpu_index {
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : vgpu_index{x, y, z} {}
    constexpr dim3(const uint3 &index) : vgpu_index(index) {}
};

/* No access asks whether they have been initialised: under a sanitizer that takes longer than most threads do. */
constinit inline thread_local uint3 threadIdx{}, blockIdx{};
constinit inline thread_local dim3 blockDim{}, gridDim{};
inline constexpr int warpSize = VGPU_WARP_THREADS;

namespace vgpu {

struct Trap {};
constinit inline thread_local vgpu_state state{};
constinit inline thread_local vgpu_sum sum{};
inline const vgpu_calls *calls;

/* A thread that looks this often at what others change lets them run. */
constexpr unsigned int most_polls = 32;

inline void go_on(int result)
{
    if (result < 0)
        throw Trap();
}

inline void poll()
{
    sum.flags |= VGPU_MAY_WAIT;
    if (++state.polls % most_polls == 0)
        go_on(calls->yield());
}

inline unsigned int rank_in_block()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

inline uint64_t now_ns()
{
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
}

} // namespace vgpu

/* Adds to the time that the calling GPU thread takes on the device; a grid takes as long as its longest thread. */
inline void vgpu_cost_ns(uint64_t ns)
{
    vgpu::sum.flags |= VGPU_COST_GIVEN;
    vgpu::state.cost_ns += ns;
}

/* What it does now may last until the host does something. */
inline void vgpu_waits()
{
    vgpu::sum.flags |= VGPU_WAITED | VGPU_MAY_WAIT;
}

/* What PTX calls %globaltimer. */
inline uint64_t vgpu_globaltimer()
{
    vgpu::poll();
    return vgpu::now_ns();
}

[[noreturn]] inline void __trap()
{
    throw vgpu::Trap();
}

/* Who sleeps again and again waits for something, and how often depends on the host alone. */
inline void __nanosleep(unsigned int ns)
{
    if (vgpu::state.polls < vgpu::most_polls)
        vgpu_cost_ns(ns);
    vgpu::poll();
}

/* At the 1 GHz that the device claims. */
inline long long int clock64()
{
    return static_cast<long long int>(vgpu_globaltimer());
}

inline int __syncthreads_count(int predicate)
{
    uint32_t count = 0;
    vgpu::go_on(vgpu::calls->block_barrier(predicate, &count));
    return static_cast<int>(count);
}

inline void __syncthreads()
{
    __syncthreads_count(0);
}

inline int __syncthreads_or(int predicate)
{
    return __syncthreads_count(predicate) != 0;
}

inline int __syncthreads_and(int predicate)
{
    return __syncthreads_count(!predicate) == 0;
}

inline void __threadfence()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

inline void __threadfence_block()
{
    __threadfence();
}

inline void __threadfence_system()
{
    __threadfence();
}

#include "vgpu_atomics.h"
#include "vgpu_warp.h"

/* The table by which libcuda.so.1 finds the kernels of a module. */
namespace vgpu {

template <typename Function> struct Launcher;

/* False after the block's last thread, or if another stack has gone on with the next. */
inline bool next_thread()
{
    if (!state.starts_next)
        return false;
    if (++threadIdx.x < blockDim.x)
        return true;
    threadIdx.x = 0;
    if (++threadIdx.y < blockDim.y)
        return true;
    threadIdx.y = 0;
    return ++threadIdx.z < blockDim.z;
}

/* Each thread gets its own copies of the parameters. */
template <auto Kernel, typename... Params> void run_threads(Params... params)
{
    try {
        do {
            state.cost_ns = 0;
            state.polls = 0;
            Kernel(params...);
            sum.longest_ns = std::max(sum.longest_ns, state.cost_ns);
        } while (next_thread());
    } catch (const Trap &) {
        sum.flags |= VGPU_TRAPPED;
    }
}

template <typename... Params> struct Launcher<void (*)(Params...)> {
    static constexpr size_t count = sizeof...(Params);
    static constexpr std::array<uint32_t, count> sizes{static_cast<uint32_t>(sizeof(Params))...};
    /* What is given as volatile is waited for. */
    static constexpr uint32_t flags =
        (false || ... || std::is_volatile_v<std::remove_pointer_t<Params>>) ? VGPU_MAY_WAIT : 0;

    /* Offsets as in the parameter buffer that the driver takes: each aligned to its own type. */
    static constexpr std::array<uint32_t, count> offsets = [] {
        std::array<uint32_t, count> result{};
        [[maybe_unused]] std::array<uint32_t, count> aligns{static_cast<uint32_t>(alignof(Params))...};
        uint32_t at = 0;
        for (size_t i = 0; i < count; i++) {
            at = (at + aligns[i] - 1) / aligns[i] * aligns[i];
            result[i] = at;
            at += sizes[i];
        }
        return result;
    }();

    template <auto Kernel, size_t... I> static void run([[maybe_unused]] void *const *params, std::index_sequence<I...>)
    {
        run_threads<Kernel, std::remove_cv_t<Params>...>(*static_cast<std::remove_cv_t<Params> *>(params[I])...);
    }
};

template <auto Kernel> void run(void *const *params)
{
    using L = Launcher<decltype(Kernel)>;
    L::template run<Kernel>(params, std::make_index_sequence<L::count>());
}

inline void find_variables(vgpu_variables *variables)
{
    *variables = {&threadIdx, &blockIdx, &blockDim, &gridDim, &state, &sum};
}

} // namespace vgpu

#define VGPU_KERNEL(name)                                                                                              \
    {                                                                                                                  \
#name, vgpu::Launcher < decltype(&name)> ::count, vgpu::Launcher < decltype(&name)> ::sizes.data(),            \
            vgpu::Launcher < decltype(&name)> ::offsets.data(), vgpu::Launcher < decltype(&name)> ::flags,             \
            vgpu::run < &name>                                                                                         \
    }

#endif /* VGPU_CUDA_H */
