/* SPDX-License-Identifier: MIT */
/*
 * What a .cu file sees when it is compiled for the host (tests/vgpu/vgpu-cc): the qualifiers, the built-in variables, a
 * few intrinsics, and a way to say what the kernel costs on the virtual device. The threads of a grid run one after
 * another, so __syncthreads() and shared memory are not there. Kernels are looked up by their plain names.
 */
#ifndef VGPU_CUDA_H
#define VGPU_CUDA_H

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#define VGPU 1
#define __global__
#define __device__ __attribute__((visibility("default")))
#define __host__
#define __constant__ __device__
#define __managed__ __device__
#define __forceinline__ inline
#define __launch_bounds__(...)

struct uint3 {
    unsigned int x, y, z;
};

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
};

inline thread_local uint3 threadIdx, blockIdx;
inline thread_local dim3 blockDim, gridDim;
inline constexpr int warpSize = 32;

namespace vgpu {
struct Trap {};
inline thread_local uint64_t thread_cost;
inline thread_local bool cost_given, waited;
} // namespace vgpu

/* Adds to the time that the calling GPU thread takes on the device; a grid takes as long as its longest thread. */
inline void vgpu_cost_ns(uint64_t ns)
{
    vgpu::cost_given = true;
    vgpu::thread_cost += ns;
}

/* What it does now may last until the host does something. */
inline void vgpu_waits()
{
    vgpu::waited = true;
}

[[noreturn]] inline void __trap()
{
    throw vgpu::Trap();
}

inline void __nanosleep(unsigned int ns)
{
    vgpu_cost_ns(ns);
}

template <typename T> T atomicAdd(T *address, std::type_identity_t<T> value)
{
    if constexpr (std::is_integral_v<T>) {
        return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
    } else {
        T old = *address;
        *address = old + value;
        return old;
    }
}

template <typename T> T atomicExch(T *address, std::type_identity_t<T> value)
{
    return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);
}

template <typename T> T atomicCAS(T *address, std::type_identity_t<T> expected, std::type_identity_t<T> value)
{
    __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected;
}

template <typename T> T atomicMax(T *address, std::type_identity_t<T> value)
{
    T old = __atomic_load_n(address, __ATOMIC_RELAXED);
    while (old < value && !__atomic_compare_exchange_n(address, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return old;
}

inline void __threadfence()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

inline void __threadfence_system()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* The table by which libcuda.so.1 finds the kernels of a module. */
#include "vgpu_module.h"

namespace vgpu {

template <typename Function> struct Launcher;

template <typename... Params> struct Launcher<void (*)(Params...)> {
    static constexpr size_t count = sizeof...(Params);
    static constexpr std::array<uint32_t, count> sizes{static_cast<uint32_t>(sizeof(Params))...};

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

    template <size_t... I>
    static void call(void (*kernel)(Params...), [[maybe_unused]] void *const *params, std::index_sequence<I...>)
    {
        kernel(*static_cast<std::remove_cv_t<std::remove_reference_t<Params>> *>(params[I])...);
    }
};

template <auto Kernel> int run(const vgpu_launch *launch, void *const *params, uint64_t *cost)
{
    using L = Launcher<decltype(Kernel)>;
    uint64_t longest = 0;

    gridDim = dim3(launch->grid[0], launch->grid[1], launch->grid[2]);
    blockDim = dim3(launch->block[0], launch->block[1], launch->block[2]);
    cost_given = waited = false;
    try {
        for (blockIdx.z = 0; blockIdx.z < gridDim.z; blockIdx.z++)
            for (blockIdx.y = 0; blockIdx.y < gridDim.y; blockIdx.y++)
                for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++)
                    for (threadIdx.z = 0; threadIdx.z < blockDim.z; threadIdx.z++)
                        for (threadIdx.y = 0; threadIdx.y < blockDim.y; threadIdx.y++)
                            for (threadIdx.x = 0; threadIdx.x < blockDim.x; threadIdx.x++) {
                                thread_cost = 0;
                                L::call(Kernel, params, std::make_index_sequence<L::count>());
                                longest = std::max(longest, thread_cost);
                            }
    } catch (const Trap &) {
        return VGPU_KERNEL_TRAPPED;
    }
    *cost = longest;
    return waited ? VGPU_KERNEL_WAITED : cost_given ? VGPU_KERNEL_COST_GIVEN : VGPU_KERNEL_RAN;
}

} // namespace vgpu

#define VGPU_KERNEL(name)                                                                                              \
    {                                                                                                                  \
#name, vgpu::Launcher < decltype(&name)> ::count, vgpu::Launcher < decltype(&name)> ::sizes.data(),            \
            vgpu::Launcher < decltype(&name)> ::offsets.data(), vgpu::run < &name>                                     \
    }

#endif /* VGPU_CUDA_H */
