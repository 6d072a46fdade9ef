/* SPDX-License-Identifier: MIT */
/* Pieces of 16 bytes that are shared with a GPU, which are read and written whole. */
#ifndef PTSCHED_POOL_WHOLE_HPP
#define PTSCHED_POOL_WHOLE_HPP

#include <emmintrin.h>

#ifdef PTSCHED_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace ptsched::pool {

/* Aligned accesses of 16 bytes are whole on processors with AVX (Intel SDM 3A, 9.1.1; AMD64 APM 2, 7.3.2). */
inline __m128i load_whole(const void *from)
{
    __m128i whole;
    asm volatile("movdqa %1, %0" : "=x"(whole) : "m"(*static_cast<const __m128i *>(from)) : "memory");
#ifdef PTSCHED_THREAD_SANITIZER
    __tsan_acquire(const_cast<void *>(from));
#endif
    return whole;
}

inline void store_whole(void *to, __m128i whole)
{
#ifdef PTSCHED_THREAD_SANITIZER
    __tsan_release(to);
#endif
    asm volatile("movdqa %1, %0" : "=m"(*static_cast<__m128i *>(to)) : "x"(whole) : "memory");
}

inline unsigned tag_of(__m128i piece)
{
    return static_cast<unsigned>(_mm_cvtsi128_si32(_mm_shuffle_epi32(piece, 0xff)));
}

/* The three words at @words, with @tag behind them. Sixteen bytes are read. */
inline __m128i tagged(const void *words, unsigned tag)
{
    const __m128i three = _mm_set_epi32(0, -1, -1, -1), tags = _mm_set_epi32(static_cast<int>(tag), 0, 0, 0);
    return _mm_or_si128(_mm_and_si128(_mm_loadu_si128(static_cast<const __m128i *>(words)), three), tags);
}

} // namespace ptsched::pool

#endif /* PTSCHED_POOL_WHOLE_HPP */
