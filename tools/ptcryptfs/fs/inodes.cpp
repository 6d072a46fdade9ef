// SPDX-License-Identifier: MIT
#include "tools/ptcryptfs/fs/inodes.hpp"

#include "tools/ptcryptfs/fs/answer.hpp"
#include "tools/ptcryptfs/store/layout.hpp"

#include <fcntl.h>

namespace ptcryptfs {

Inodes::Inodes(ptsched::UniqueFd root)
{
    root_.fd = std::move(root);
}

Inode &Inodes::of(fuse_ino_t number)
{
    return number == FUSE_ROOT_ID ? root_ : *reinterpret_cast<Inode *>(number);
}

namespace {

struct stat status_beneath(int fd)
{
    struct stat status;
    need(fstatat(fd, "", &status, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
    return status;
}

} // namespace

struct stat Inodes::status_of(Inode &inode)
{
    const std::shared_lock guard(inode.lock);
    struct stat status = status_beneath(inode.fd.get());
    if (S_ISREG(status.st_mode))
        status.st_size = static_cast<off_t>(plain_size(static_cast<std::uint64_t>(status.st_size)));
    return status;
}

fuse_entry_param Inodes::look_up(fuse_ino_t folder, const char *name)
{
    ptsched::UniqueFd found(need(openat(fd(folder), name, O_PATH | O_NOFOLLOW | O_CLOEXEC)));
    fuse_entry_param entry{};
    entry.attr_timeout = entry.entry_timeout = remembered;
    Inode &inode = known(std::move(found));
    entry.ino = reinterpret_cast<fuse_ino_t>(&inode);
    try {
        entry.attr = status_of(inode);
    } catch (...) {
        forget(entry.ino, 1);
        throw;
    }
    return entry;
}

Inode &Inodes::known(ptsched::UniqueFd found)
{
    const struct stat status = status_beneath(found.get());
    const std::pair identity(status.st_dev, status.st_ino);
    const ptsched::Guard guard(mutex_);
    std::unique_ptr<Inode> &inode = known_[identity];
    if (!inode) {
        inode = std::make_unique<Inode>();
        inode->fd = std::move(found);
        inode->identity = identity;
    }
    inode->lookups++;
    return *inode;
}

std::shared_ptr<KeyOfFile> Inodes::key_of(Inode &inode)
{
    const ptsched::Guard guard(mutex_);
    std::shared_ptr<KeyOfFile> key = inode.key.lock();
    if (!key)
        inode.key = key = std::make_shared<KeyOfFile>();
    return key;
}

void Inodes::forget(fuse_ino_t number, std::uint64_t lookups)
{
    if (number == FUSE_ROOT_ID)
        return;
    const ptsched::Guard guard(mutex_);
    Inode &inode = of(number);
    inode.lookups -= lookups;
    if (!inode.lookups)
        known_.erase(std::pair(inode.identity));
}

} // namespace ptcryptfs
