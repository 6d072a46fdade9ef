/* SPDX-License-Identifier: MIT */
/*
 * The kernel by which a GPU moves many short blocks between the host's memory and its own at once. A copy engine takes
 * longer to begin with each of them than to copy it: on an H200, 64 blocks from the host take 29 us instead of 169 if
 * they are of 16 KiB, 90 instead of 247 of 64 KiB, 334 instead of 465 of 256 KiB, and from 1 MiB on about as long. In a
 * CUDA graph it is worse in the other direction: on an H100, 32 blocks of 256 KiB take 170 us instead of 225.
 */
#ifndef PTSCHED_DEVICE_PIECES_HPP
#define PTSCHED_DEVICE_PIECES_HPP

#include <ptsched/device/device.hpp>

namespace ptsched::device::pieces {

constexpr std::size_t most = 64;
constexpr char entry[] = "ptsched_pieces";
/* Where a driver compiles it from; in PTX, so that neither a compiler nor one image for each kind of GPU is needed. */
extern const char ptx[];

/* The kernel's only parameter is the address of as many of these as it has rows of blocks. */
struct Entry {
    explicit Entry(const Piece &piece);
    std::uint64_t to, from, words; /* of 16 bytes */
};

/* For so many pieces. */
Geometry geometry(const std::vector<Piece> &pieces);

} // namespace ptsched::device::pieces

#endif /* PTSCHED_DEVICE_PIECES_HPP */
