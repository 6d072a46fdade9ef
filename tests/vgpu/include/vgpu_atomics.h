/* SPDX-License-Identifier: MIT */
/*
 * The atomic functions of CUDA C++, of every scope. One that leaves a word as it was may be part of a loop that waits
 * for it, so that others get to run.
 */
#ifndef VGPU_ATOMICS_H
#define VGPU_ATOMICS_H

#include <atomic>

namespace vgpu {

template <typename T> using Same = std::type_identity_t<T>;

/* Replaces what is there by what the function makes of it; returns what was there. */
template <typename T, typename Function> T update(T *address, Function function)
{
    std::atomic_ref<T> word(*address);
    T old = word.load(std::memory_order_relaxed);
    while (!word.compare_exchange_weak(old, function(old), std::memory_order_relaxed))
        ;
    return old;
}

inline void poll_if(bool unchanged)
{
    if (unchanged)
        poll();
}

} // namespace vgpu

template <typename T> T atomicAdd(T *address, vgpu::Same<T> value)
{
    vgpu::poll_if(value == T{});
    return std::atomic_ref<T>(*address).fetch_add(value, std::memory_order_relaxed);
}

template <typename T> T atomicSub(T *address, vgpu::Same<T> value)
{
    vgpu::poll_if(value == T{});
    return std::atomic_ref<T>(*address).fetch_sub(value, std::memory_order_relaxed);
}

template <typename T> T atomicExch(T *address, vgpu::Same<T> value)
{
    T old = std::atomic_ref<T>(*address).exchange(value);
    vgpu::poll_if(old == value);
    return old;
}

template <typename T> T atomicCAS(T *address, vgpu::Same<T> expected, vgpu::Same<T> value)
{
    T old = expected;
    const bool exchanged = std::atomic_ref<T>(*address).compare_exchange_strong(old, value);
    vgpu::poll_if(!exchanged || expected == value);
    return old;
}

template <typename T> T atomicMin(T *address, vgpu::Same<T> value)
{
    return vgpu::update(address, [value](T old) { return value < old ? value : old; });
}

template <typename T> T atomicMax(T *address, vgpu::Same<T> value)
{
    return vgpu::update(address, [value](T old) { return old < value ? value : old; });
}

/* Counts up to a value and begins again at 0. */
inline unsigned int atomicInc(unsigned int *address, unsigned int most)
{
    return vgpu::update(address, [most](unsigned int old) { return old >= most ? 0 : old + 1; });
}

inline unsigned int atomicDec(unsigned int *address, unsigned int most)
{
    return vgpu::update(address, [most](unsigned int old) { return old == 0 || old > most ? most : old - 1; });
}

template <typename T> T atomicAnd(T *address, vgpu::Same<T> value)
{
    vgpu::poll_if(value == static_cast<T>(~T{}));
    return std::atomic_ref<T>(*address).fetch_and(value, std::memory_order_relaxed);
}

template <typename T> T atomicOr(T *address, vgpu::Same<T> value)
{
    vgpu::poll_if(value == T{});
    return std::atomic_ref<T>(*address).fetch_or(value, std::memory_order_relaxed);
}

template <typename T> T atomicXor(T *address, vgpu::Same<T> value)
{
    vgpu::poll_if(value == T{});
    return std::atomic_ref<T>(*address).fetch_xor(value, std::memory_order_relaxed);
}

/* Threads of a block and those of the host are the same to the host's memory. */
#define VGPU_SCOPES(name)                                                                                              \
    template <typename T, typename... Values> T name##_block(T *address, Values... values)                             \
    {                                                                                                                  \
        return name(address, values...);                                                                               \
    }                                                                                                                  \
    template <typename T, typename... Values> T name##_system(T *address, Values... values)                            \
    {                                                                                                                  \
        return name(address, values...);                                                                               \
    }
VGPU_SCOPES(atomicAdd)
VGPU_SCOPES(atomicSub)
VGPU_SCOPES(atomicExch)
VGPU_SCOPES(atomicCAS)
VGPU_SCOPES(atomicMin)
VGPU_SCOPES(atomicMax)
VGPU_SCOPES(atomicInc)
VGPU_SCOPES(atomicDec)
VGPU_SCOPES(atomicAnd)
VGPU_SCOPES(atomicOr)
VGPU_SCOPES(atomicXor)
#undef VGPU_SCOPES

/*
 * For kernels that exchange words with the host by instructions of their own, which the thread sanitizer does not see:
 * after reading what others write, and before writing what others read.
 */
#if defined(__SANITIZE_THREAD__)
#define VGPU_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define VGPU_THREAD_SANITIZER
#endif
#endif
#ifdef VGPU_THREAD_SANITIZER
extern "C" void __tsan_acquire(void *), __tsan_release(void *);
#endif

inline void vgpu_has_read([[maybe_unused]] const void *from)
{
#ifdef VGPU_THREAD_SANITIZER
    __tsan_acquire(const_cast<void *>(from));
#endif
}

inline void vgpu_writes([[maybe_unused]] void *to)
{
#ifdef VGPU_THREAD_SANITIZER
    __tsan_release(to);
#endif
}

#endif /* VGPU_ATOMICS_H */
