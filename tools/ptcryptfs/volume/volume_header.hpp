/* SPDX-License-Identifier: MIT */
/* What is in a volume's header, as JSON. Documentation/ptcryptfs.rst has the format. */
#ifndef PTCRYPTFS_VOLUME_VOLUME_HEADER_HPP
#define PTCRYPTFS_VOLUME_VOLUME_HEADER_HPP

#include "tools/ptcryptfs/crypt/derive.hpp"

#include <string>

namespace ptcryptfs {

struct VolumeHeader {
    Scrypt scrypt;
    std::vector<std::byte> salt, sealed_key;

    /* What the seal covers besides the key: nobody can make the derivation weaker, say, without its being seen. */
    std::string covered() const;
    std::string text() const;
    /* Throws Error if it is damaged, or of a version that is not known. */
    static VolumeHeader parse(const std::string &text);
};

} // namespace ptcryptfs

#endif /* PTCRYPTFS_VOLUME_VOLUME_HEADER_HPP */
