/* SPDX-License-Identifier: MIT */
/*
 * How a file lies in the one that stores it: its header, its sectors, of which the last one is whole, too, and as many
 * zeros as the last one has bytes, if it is not full. So one number, the size of what stores it, says how large it is,
 * and changes at once. A sector of zeros is a hole, and stands for zeros.
 */
#ifndef PTCRYPTFS_STORE_LAYOUT_HPP
#define PTCRYPTFS_STORE_LAYOUT_HPP

#include "tools/ptcryptfs/volume/file_header.hpp"

#include <cstdint>

namespace ptcryptfs {

/* The sizes that can be stored; off_t has 63 bits. */
constexpr std::uint64_t most_size = (std::uint64_t{1} << 62) - 1;

constexpr std::uint64_t sectors_of(std::uint64_t size)
{
    return (size + sector_bytes - 1) / sector_bytes;
}

constexpr std::uint64_t stored_at(std::uint64_t sector)
{
    return header_bytes + sector * sector_bytes;
}

/* Of an empty file that has no header yet, zero is right as well. */
constexpr std::uint64_t stored_size(std::uint64_t size)
{
    return stored_at(sectors_of(size)) + size % sector_bytes;
}

/* For any number, also of what something else has cut. */
constexpr std::uint64_t plain_size(std::uint64_t stored)
{
    if (stored < stored_at(1))
        return 0;
    const std::uint64_t whole = (stored - header_bytes) / sector_bytes, part = (stored - header_bytes) % sector_bytes;
    return part ? (whole - 1) * sector_bytes + part : whole * sector_bytes;
}

} // namespace ptcryptfs

#endif /* PTCRYPTFS_STORE_LAYOUT_HPP */
