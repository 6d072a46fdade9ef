/* SPDX-License-Identifier: MIT */
/* The vector types of CUDA C++, and small functions that kernels take for granted. */
#ifndef VGPU_VECTORS_H
#define VGPU_VECTORS_H

#include "vgpu_module.h"

#include <bit>
#include <cmath>
#include <cstdint>

using uint3 = vgpu_index;

/* One of four parts is aligned to 16 bytes at most, one of three like its parts. */
#define VGPU_VECTORS_BUT_3(type, name)                                                                                 \
    struct name##1                                                                                                     \
    {                                                                                                                  \
        type x;                                                                                                        \
    };                                                                                                                 \
    struct alignas(2 * sizeof(type)) name##2                                                                           \
    {                                                                                                                  \
        type x, y;                                                                                                     \
    };                                                                                                                 \
    struct alignas(sizeof(type) < 4 ? 4 * sizeof(type) : 16) name##4                                                   \
    {                                                                                                                  \
        type x, y, z, w;                                                                                               \
    };                                                                                                                 \
    constexpr name##1 make_##name##1(type x)                                                                           \
    {                                                                                                                  \
        return {x};                                                                                                    \
    }                                                                                                                  \
    constexpr name##2 make_##name##2(type x, type y)                                                                   \
    {                                                                                                                  \
        return {x, y};                                                                                                 \
    }                                                                                                                  \
    constexpr name##3 make_##name##3(type x, type y, type z)                                                           \
    {                                                                                                                  \
        return {x, y, z};                                                                                              \
    }                                                                                                                  \
    constexpr name##4 make_##name##4(type x, type y, type z, type w)                                                   \
    {                                                                                                                  \
        return {x, y, z, w};                                                                                           \
    }
#define VGPU_VECTORS(type, name)                                                                                       \
    struct name##3                                                                                                     \
    {                                                                                                                  \
        type x, y, z;                                                                                                  \
    };                                                                                                                 \
    VGPU_VECTORS_BUT_3(type, name)

VGPU_VECTORS(signed char, char)
VGPU_VECTORS(unsigned char, uchar)
VGPU_VECTORS(short, short)
VGPU_VECTORS(unsigned short, ushort)
VGPU_VECTORS(int, int)
VGPU_VECTORS_BUT_3(unsigned int, uint)
VGPU_VECTORS(long, long)
VGPU_VECTORS(unsigned long, ulong)
VGPU_VECTORS(long long, longlong)
VGPU_VECTORS(unsigned long long, ulonglong)
VGPU_VECTORS(float, float)
VGPU_VECTORS(double, double)
#undef VGPU_VECTORS
#undef VGPU_VECTORS_BUT_3

/* No templates: what is in namespace std is one, and gives way. */
#define VGPU_MIN_MAX(type)                                                                                             \
    constexpr type min(type a, type b)                                                                                 \
    {                                                                                                                  \
        return b < a ? b : a;                                                                                          \
    }                                                                                                                  \
    constexpr type max(type a, type b)                                                                                 \
    {                                                                                                                  \
        return a < b ? b : a;                                                                                          \
    }
VGPU_MIN_MAX(int)
VGPU_MIN_MAX(unsigned int)
VGPU_MIN_MAX(long)
VGPU_MIN_MAX(unsigned long)
VGPU_MIN_MAX(long long)
VGPU_MIN_MAX(unsigned long long)
VGPU_MIN_MAX(float)
VGPU_MIN_MAX(double)
#undef VGPU_MIN_MAX

template <typename T> T __ldg(const T *address)
{
    return *address;
}

inline int __float_as_int(float value)
{
    return std::bit_cast<int>(value);
}

inline unsigned int __float_as_uint(float value)
{
    return std::bit_cast<unsigned int>(value);
}

inline float __int_as_float(int bits)
{
    return std::bit_cast<float>(bits);
}

inline float __uint_as_float(unsigned int bits)
{
    return std::bit_cast<float>(bits);
}

inline float rsqrtf(float value)
{
    return 1 / std::sqrt(value);
}

inline double rsqrt(double value)
{
    return 1 / std::sqrt(value);
}

inline int __popc(unsigned int bits)
{
    return std::popcount(bits);
}

inline int __popcll(unsigned long long bits)
{
    return std::popcount(bits);
}

inline int __ffs(int bits)
{
    return __builtin_ffs(bits);
}

inline int __ffsll(long long bits)
{
    return __builtin_ffsll(bits);
}

inline int __clz(int bits)
{
    return std::countl_zero(static_cast<unsigned int>(bits));
}

inline int __clzll(long long bits)
{
    return std::countl_zero(static_cast<unsigned long long>(bits));
}

#endif /* VGPU_VECTORS_H */
