/* SPDX-License-Identifier: MIT */
/* Sizes of small blocks: four to each doubling, so that at most a fifth of a block is not used. */
#ifndef PTSCHED_ARENA_HEAP_SIZE_CLASS_HPP
#define PTSCHED_ARENA_HEAP_SIZE_CLASS_HPP

#include "libptsched/arena/window/memory.hpp"

#include <bit>
#include <cstddef>

namespace ptsched::arena::size_class {

constexpr std::size_t smallest = 16, largest = 32 << 10;
/* 16, 32, 48, 64; then 80, 96, 112, 128; 160, 192 ... */
constexpr unsigned count = 4 + 4 * (std::countr_zero(largest) - std::countr_zero(std::size_t{64}));

constexpr std::size_t bytes_of(unsigned index)
{
    if (index < 4)
        return smallest * (index + 1);
    const unsigned doubling = (index - 4) / 4, quarter = (index - 4) % 4;
    return (std::size_t{64} << doubling) + (std::size_t{16} << doubling) * (quarter + 1);
}

/* The first with as many bytes, of 1 to the largest. */
constexpr unsigned index_of(std::size_t bytes)
{
    if (bytes <= 64)
        return bytes ? static_cast<unsigned>((bytes - 1) / smallest) : 0;
    const auto doubling = static_cast<unsigned>(std::bit_width(bytes - 1) - 7);
    const std::size_t above = bytes - 1 - (std::size_t{64} << doubling);
    return 4 + 4 * doubling + static_cast<unsigned>(above / (std::size_t{16} << doubling));
}

/* Of which blocks of a class are made: a multiple of page_bytes. */
constexpr std::size_t run_bytes(unsigned index)
{
    return bytes_of(index) <= 8 << 10 ? page_bytes : 4 * page_bytes;
}

static_assert(bytes_of(count - 1) == largest && index_of(largest) == count - 1 && index_of(65) == 4 &&
              bytes_of(4) == 80);

} // namespace ptsched::arena::size_class

#endif /* PTSCHED_ARENA_HEAP_SIZE_CLASS_HPP */
