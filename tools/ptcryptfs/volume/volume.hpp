/* SPDX-License-Identifier: MIT */
/* A folder whose files are encrypted: its key, which a passphrase opens. */
#ifndef PTCRYPTFS_VOLUME_VOLUME_HPP
#define PTCRYPTFS_VOLUME_VOLUME_HPP

#include "tools/ptcryptfs/crypt/derive.hpp"

#include <filesystem>

namespace ptcryptfs {

/* In a volume's folder: what is said of the volume, and the folder with its files. */
constexpr const char *header_name = "ptcryptfs.json", *files_name = "files";

/*
 * A volume's key is random, and is in its header sealed with another one, which is made of the passphrase; so that can
 * be changed without a change of any file. Thread-safe.
 */
class Volume {
public:
    /* Throws Error if there is one already, or the folder cannot be written. What was begun is removed then. */
    static Volume create(const std::filesystem::path &folder, ConstBytes passphrase, const Scrypt &how = {});
    /* Throws Error that tells a folder without a volume, a header that is damaged, and a passphrase that is wrong. */
    static Volume open(const std::filesystem::path &folder, ConstBytes passphrase);
    /* Throws as open() and create() do, and if another process does the same; the header is the old one then. */
    static void change_passphrase(const std::filesystem::path &folder, ConstBytes old_one, ConstBytes new_one);

    /* For one purpose each. @salt: what tells apart those that have the same. */
    Secret key_for(std::string_view purpose, ConstBytes salt, std::size_t bytes) const;

private:
    explicit Volume(Secret key) : key_(std::move(key)) {}
    Secret key_;
};

} // namespace ptcryptfs

#endif /* PTCRYPTFS_VOLUME_VOLUME_HPP */
