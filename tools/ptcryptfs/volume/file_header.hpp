/* SPDX-License-Identifier: MIT */
/* What stands before the first sector of each file: what its key is made of. */
#ifndef PTCRYPTFS_VOLUME_FILE_HEADER_HPP
#define PTCRYPTFS_VOLUME_FILE_HEADER_HPP

#include "tools/ptcryptfs/crypt/engine.hpp"
#include "tools/ptcryptfs/volume/volume.hpp"

#include <array>

namespace ptcryptfs {

/* As large as a sector, so that sectors are at multiples of theirs. */
constexpr std::size_t header_bytes = sector_bytes;
using FileHeader = std::array<std::byte, header_bytes>;

/* Of a file that is new. */
FileHeader make_file_header(const Volume &volume);
/* Throws Error if it is damaged, or of another volume or version. */
Secret key_of_file(const Volume &volume, const FileHeader &header);

} // namespace ptcryptfs

#endif /* PTCRYPTFS_VOLUME_FILE_HEADER_HPP */
