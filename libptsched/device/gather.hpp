/* SPDX-License-Identifier: MIT */
/*
 * The kernel by which a GPU fetches many short blocks from the host's memory at once. A copy engine takes longer to
 * begin with each of them than to copy it: on an H200, 64 blocks take 29 us instead of 169 if they are of 16 KiB, 90
 * instead of 247 of 64 KiB, 334 instead of 465 of 256 KiB, and from 1 MiB on about as long.
 */
#ifndef PTSCHED_DEVICE_GATHER_HPP
#define PTSCHED_DEVICE_GATHER_HPP

#include "device.hpp"

namespace ptsched::device::gather {

constexpr std::size_t most_pieces = 64;
constexpr char entry[] = "ptsched_gather";
/* Where a driver compiles it from; in PTX, so that neither a compiler nor one image for each kind of GPU is needed. */
extern const char ptx[];

/* The kernel's only parameter. */
struct Pieces {
    Pieces() = default;
    explicit Pieces(const std::vector<Piece> &pieces);
    bool operator==(const Pieces &) const = default;

    struct Entry {
        std::uint64_t to, from, words; /* of 16 bytes */
        bool operator==(const Entry &) const = default;
    };
    std::array<Entry, most_pieces> entries{};
};

/* For pieces of which none is larger than the largest of these. */
Geometry geometry(const std::vector<Piece> &pieces);

} // namespace ptsched::device::gather

#endif /* PTSCHED_DEVICE_GATHER_HPP */
