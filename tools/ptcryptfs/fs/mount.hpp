/* SPDX-License-Identifier: MIT */
#ifndef PTCRYPTFS_FS_MOUNT_HPP
#define PTCRYPTFS_FS_MOUNT_HPP

#include "tools/ptcryptfs/crypt/engine.hpp"
#include "tools/ptcryptfs/volume/volume.hpp"

#include <filesystem>
#include <functional>

namespace ptcryptfs {

struct MountOptions {
    std::filesystem::path folder, mountpoint;
    bool allow_other = false, read_only = false;
    unsigned threads = 0; /* requests at a time; zero: as libfuse thinks fit */
};

/*
 * Serves requests until it is unmounted, or SIGINT, SIGTERM or SIGHUP comes; @is_mounted is called before the first
 * one. Throws Error if it cannot be mounted, or is mounted already.
 */
void serve(const MountOptions &options, const Volume &volume, Engine &engine, const std::function<void()> &is_mounted);

} // namespace ptcryptfs

#endif /* PTCRYPTFS_FS_MOUNT_HPP */
