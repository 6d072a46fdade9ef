/* SPDX-License-Identifier: MIT */
#ifndef PTCRYPTFS_FS_INODES_HPP
#define PTCRYPTFS_FS_INODES_HPP

#define FUSE_USE_VERSION 312

#include "libptsched/base/lock.hpp"
#include "tools/ptcryptfs/store/stored_file.hpp"
#include <ptsched/base/fd.hpp>

#include <cstdint>
#include <fuse_lowlevel.h>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <sys/stat.h>

namespace ptcryptfs {

/* A file of the folder beneath, as long as the kernel knows it, under whatever names. */
struct Inode {
    ptsched::UniqueFd fd;   /* O_PATH */
    std::shared_mutex lock; /* of the content: see StoredFile */
    std::pair<dev_t, ino_t> identity;
    std::uint64_t lookups = 0;    /* that the kernel has not forgotten */
    std::weak_ptr<KeyOfFile> key; /* that all who have it open share */
};

/* Calls throw std::system_error. Thread-safe. */
class Inodes {
public:
    /* @root: a folder's. */
    explicit Inodes(ptsched::UniqueFd root);

    Inode &of(fuse_ino_t number);
    int fd(fuse_ino_t number) { return of(number).fd.get(); }
    /* The kernel comes to know it once more. */
    fuse_entry_param look_up(fuse_ino_t folder, const char *name);
    void forget(fuse_ino_t number, std::uint64_t lookups);
    /* It goes with the last one that has it open: the kernel knows more files than there is locked memory for. */
    std::shared_ptr<KeyOfFile> key_of(Inode &inode);

    /* The number of the descriptor that /proc has for it: what can be opened. */
    static std::string path_of(int fd) { return "/proc/self/fd/" + std::to_string(fd); }
    /* Of regular files, the size is that of their plain text; it is none that a request in progress passes through. */
    static struct stat status_of(Inode &inode);

private:
    Inode &known(ptsched::UniqueFd found);

    Inode root_;
    ptsched::Mutex mutex_;
    std::map<std::pair<dev_t, ino_t>, std::unique_ptr<Inode>> known_ PTSCHED_GUARDED_BY(mutex_);
};

/* For how long the kernel need not ask again, seconds; nobody else changes the folder beneath meanwhile. */
constexpr double remembered = 1;

} // namespace ptcryptfs

#endif /* PTCRYPTFS_FS_INODES_HPP */
