/* SPDX-License-Identifier: MIT */
/*
 * What the threads of a warp do together: votes, shuffles, matches, reductions. The lanes of a mask meet and show each
 * other a value; each makes of the values what it wants.
 */
#ifndef VGPU_WARP_H
#define VGPU_WARP_H

#include <bit>
#include <cstring>

namespace vgpu {

struct Meeting {
    uint64_t values[VGPU_WARP_THREADS];
    uint32_t present = 0;

    Meeting(uint32_t mask, uint64_t value) { go_on(calls->warp_meeting(mask, value, values, &present)); }
};

template <typename T> uint64_t to_word(T value)
{
    static_assert(sizeof(T) <= sizeof(uint64_t) && std::is_trivially_copyable_v<T>);
    uint64_t word = 0;
    std::memcpy(&word, &value, sizeof(value));
    return word;
}

template <typename T> T from_word(uint64_t word)
{
    T value;
    std::memcpy(&value, &word, sizeof(value));
    return value;
}

inline uint32_t lane()
{
    return rank_in_block() % VGPU_WARP_THREADS;
}

/* The value of a lane; one's own, if that lane is not there. */
template <typename T> T shuffle(uint32_t mask, T value, uint32_t from)
{
    const Meeting meeting(mask, to_word(value));
    return from < VGPU_WARP_THREADS && meeting.present >> from & 1 ? from_word<T>(meeting.values[from]) : value;
}

/* In the order of the lanes, so that all of them get the same. */
template <typename T, typename Function> T reduce(uint32_t mask, T value, Function function)
{
    const Meeting meeting(mask, to_word(value));
    const uint32_t first = static_cast<uint32_t>(std::countr_zero(meeting.present));
    T result = from_word<T>(meeting.values[first]);
    for (uint32_t i = first + 1; i < VGPU_WARP_THREADS; i++)
        if (meeting.present >> i & 1)
            result = function(result, from_word<T>(meeting.values[i]));
    return result;
}

} // namespace vgpu

/* Only the caller is certain to be there. */
inline unsigned int __activemask()
{
    return 1u << vgpu::lane();
}

inline void __syncwarp(unsigned int mask = 0xffffffff)
{
    vgpu::Meeting(mask, 0);
}

inline unsigned int __ballot_sync(unsigned int mask, int predicate)
{
    const vgpu::Meeting meeting(mask, predicate != 0);
    unsigned int result = 0;
    for (unsigned int i = 0; i < VGPU_WARP_THREADS; i++)
        if (meeting.present >> i & 1 && meeting.values[i])
            result |= 1u << i;
    return result;
}

inline int __any_sync(unsigned int mask, int predicate)
{
    return __ballot_sync(mask, predicate) != 0;
}

inline int __all_sync(unsigned int mask, int predicate)
{
    return __ballot_sync(mask, !predicate) == 0;
}

/* Which lanes have the same value. */
template <typename T> unsigned int __match_any_sync(unsigned int mask, T value)
{
    const vgpu::Meeting meeting(mask, vgpu::to_word(value));
    unsigned int result = 0;
    for (unsigned int i = 0; i < VGPU_WARP_THREADS; i++)
        if (meeting.present >> i & 1 && meeting.values[i] == vgpu::to_word(value))
            result |= 1u << i;
    return result;
}

template <typename T> unsigned int __match_all_sync(unsigned int mask, T value, int *all)
{
    const vgpu::Meeting meeting(mask, vgpu::to_word(value));
    *all = 1;
    for (unsigned int i = 0; i < VGPU_WARP_THREADS; i++)
        if (meeting.present >> i & 1 && meeting.values[i] != vgpu::to_word(value))
            *all = 0;
    return *all ? meeting.present : 0;
}

template <typename T> T __shfl_sync(unsigned int mask, T value, int from, int width = VGPU_WARP_THREADS)
{
    const int first = static_cast<int>(vgpu::lane()) & ~(width - 1);
    return vgpu::shuffle(mask, value, static_cast<uint32_t>(first + (from & (width - 1))));
}

template <typename T> T __shfl_up_sync(unsigned int mask, T value, unsigned int by, int width = VGPU_WARP_THREADS)
{
    const unsigned int lane = vgpu::lane(), first = lane & ~(static_cast<unsigned int>(width) - 1);
    return vgpu::shuffle(mask, value, lane - first >= by ? lane - by : lane);
}

template <typename T> T __shfl_down_sync(unsigned int mask, T value, unsigned int by, int width = VGPU_WARP_THREADS)
{
    const unsigned int lane = vgpu::lane(), last = lane | (static_cast<unsigned int>(width) - 1);
    return vgpu::shuffle(mask, value, last - lane >= by ? lane + by : lane);
}

template <typename T> T __shfl_xor_sync(unsigned int mask, T value, int with, int width = VGPU_WARP_THREADS)
{
    const unsigned int lane = vgpu::lane(), last = lane | (static_cast<unsigned int>(width) - 1);
    const unsigned int from = lane ^ static_cast<unsigned int>(with);
    return vgpu::shuffle(mask, value, from <= last ? from : lane);
}

template <typename T> T __reduce_add_sync(unsigned int mask, T value)
{
    return vgpu::reduce(mask, value, [](T a, T b) { return a + b; });
}

template <typename T> T __reduce_min_sync(unsigned int mask, T value)
{
    return vgpu::reduce(mask, value, [](T a, T b) { return b < a ? b : a; });
}

template <typename T> T __reduce_max_sync(unsigned int mask, T value)
{
    return vgpu::reduce(mask, value, [](T a, T b) { return a < b ? b : a; });
}

inline unsigned int __reduce_and_sync(unsigned int mask, unsigned int value)
{
    return vgpu::reduce(mask, value, [](unsigned int a, unsigned int b) { return a & b; });
}

inline unsigned int __reduce_or_sync(unsigned int mask, unsigned int value)
{
    return vgpu::reduce(mask, value, [](unsigned int a, unsigned int b) { return a | b; });
}

inline unsigned int __reduce_xor_sync(unsigned int mask, unsigned int value)
{
    return vgpu::reduce(mask, value, [](unsigned int a, unsigned int b) { return a ^ b; });
}

#endif /* VGPU_WARP_H */
