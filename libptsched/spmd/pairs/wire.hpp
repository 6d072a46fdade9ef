/* SPDX-License-Identifier: MIT */
/* Pairs as bytes, for files and messages between machines of one kind. */
#ifndef PTSCHED_SPMD_PAIRS_WIRE_HPP
#define PTSCHED_SPMD_PAIRS_WIRE_HPP

#include <ptsched/spmd/pairs.hpp>

#include <span>

namespace ptsched::spmd {

/* Appends @pairs to @to. */
void pack(const Pairs &pairs, Buffer &to);
/* What pack() has made, of the same widths. Throws Error if it is something else. */
Pairs unpack(std::span<const std::byte> packed, std::size_t key_width, std::size_t value_width);

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_PAIRS_WIRE_HPP */
