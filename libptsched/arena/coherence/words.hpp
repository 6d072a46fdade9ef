/* SPDX-License-Identifier: MIT */
/* Differences, word by word: of 4 bytes, which is what both sides may write of a page at the same time. */
#ifndef PTSCHED_ARENA_COHERENCE_WORDS_HPP
#define PTSCHED_ARENA_COHERENCE_WORDS_HPP

#include "libptsched/arena/coherence/kernels.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace ptsched::arena {

constexpr std::size_t word_bytes = 4;

/* A word as it was found to be different; @was: without the twin's words, the same. */
struct Difference {
    std::size_t offset; /* in bytes, from the place's begin */
    std::uint32_t is, was;
};

/* What a kernel has packed: calls @function with a Difference for each word, in no order of chunks. */
template <typename Function> void for_each_packed(std::span<const unsigned> packed, bool with_twin, Function function)
{
    while (packed.size() >= arena_packed_words) {
        const std::size_t chunk = packed[0], count = packed[1];
        const auto bits = packed.subspan(2, arena_chunk_words / 32);
        const auto words = packed.subspan(arena_packed_words, count * (with_twin ? 2 : 1));
        std::size_t next = 0;
        for (std::size_t i = 0; i < bits.size(); i++)
            for (unsigned left = bits[i]; left; left &= left - 1) {
                const std::size_t word = i * 32 + static_cast<std::size_t>(__builtin_ctz(left));
                const std::uint32_t is = words[next];
                function(Difference{(chunk * arena_chunk_words + word) * word_bytes, is,
                                    with_twin ? words[count + next] : is});
                next++;
            }
        packed = packed.subspan(arena_packed_words + words.size());
    }
}

/* Where two memories of the same size differ; offsets from their begin. */
template <typename Function>
void for_each_different(std::span<const std::byte> is, const std::byte *was, Function function)
{
    constexpr std::size_t line = 64;
    for (std::size_t at = 0; at < is.size(); at += line) {
        if (!std::memcmp(is.data() + at, was + at, line))
            continue;
        for (std::size_t word = at; word < at + line; word += word_bytes) {
            Difference difference{word, 0, 0};
            std::memcpy(&difference.is, is.data() + word, word_bytes);
            std::memcpy(&difference.was, was + word, word_bytes);
            if (difference.is != difference.was)
                function(difference);
        }
    }
}

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_COHERENCE_WORDS_HPP */
