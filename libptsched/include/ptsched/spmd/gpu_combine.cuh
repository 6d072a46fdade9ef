/* SPDX-License-Identifier: MIT */
/* How values of a key come together on a GPU: element by element. */
#ifndef PTSCHED_SPMD_GPU_COMBINE_CUH
#define PTSCHED_SPMD_GPU_COMBINE_CUH

namespace ptsched::spmd {

namespace gpu {

/* Of 4 or 8 bytes, as atomic functions have them. */
template <unsigned int Bytes> struct Word;
template <> struct Word<4> {
    using Type = unsigned int;
};
template <> struct Word<8> {
    using Type = unsigned long long;
};
template <typename T> using WordOf = typename Word<sizeof(T)>::Type;

template <typename To, typename From> __device__ To bits(const From &from)
{
    static_assert(sizeof(To) == sizeof(From));
    To to;
    memcpy(&to, &from, sizeof(to));
    return to;
}

/* What others may write at the same time by atomic functions. */
template <typename T> __device__ T load(const T *from)
{
#ifdef VGPU
    return __atomic_load_n(from, __ATOMIC_ACQUIRE);
#else
    return *static_cast<const volatile T *>(from);
#endif
}

template <typename C> __device__ void combine_by_exchange(typename C::Element *to, typename C::Element value)
{
    using Element = typename C::Element;
    auto *const word = reinterpret_cast<WordOf<Element> *>(to);
    WordOf<Element> found = load(word), before;
    do {
        before = found;
        const Element sum = C::combine(bits<Element>(before), value);
        found = atomicCAS(word, before, bits<WordOf<Element>>(sum));
    } while (found != before);
}

/* In the order in which threads come. */
template <typename C> __device__ void combine_atomically(typename C::Element *to, typename C::Element value)
{
    if constexpr (requires { C::combine_atomically(to, value); })
        C::combine_atomically(to, value);
    else
        combine_by_exchange<C>(to, value);
}

} // namespace gpu

/* A user's own has these three, and may have combine_atomically(T *, T), where there is something better. */
template <typename T> struct Sum {
    using Element = T;
    static __device__ T identity() { return T(0); }
    static __device__ T combine(T a, T b) { return a + b; }
    static __device__ void combine_atomically(T *to, T value)
    {
        if constexpr (T(0.5) != T(0)) /* the hardware adds real numbers, and those of 32 and 64 bits by their words */
            atomicAdd(to, value);
        else
            atomicAdd(reinterpret_cast<gpu::WordOf<T> *>(to), static_cast<gpu::WordOf<T>>(value));
    }
};

/* @Worst: what no value is better than. */
template <typename T, T Worst> struct Least {
    using Element = T;
    static __device__ T identity() { return Worst; }
    static __device__ T combine(T a, T b) { return b < a ? b : a; }
};
template <typename T, T Worst> struct Most {
    using Element = T;
    static __device__ T identity() { return Worst; }
    static __device__ T combine(T a, T b) { return a < b ? b : a; }
};

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_GPU_COMBINE_CUH */
