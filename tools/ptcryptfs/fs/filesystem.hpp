/* SPDX-License-Identifier: MIT */
#ifndef PTCRYPTFS_FS_FILESYSTEM_HPP
#define PTCRYPTFS_FS_FILESYSTEM_HPP

#include "tools/ptcryptfs/fs/inodes.hpp"
#include "tools/ptcryptfs/store/stored_file.hpp"

namespace ptcryptfs {

/* What requests need; it is the session's user data. */
struct Filesystem {
    Filesystem(const Volume &of, Engine &with, ptsched::UniqueFd root)
        : volume(of), engine(with), inodes(std::move(root))
    {
    }

    const Volume &volume;
    Engine &engine;
    Inodes inodes;
};

inline Filesystem &filesystem_of(fuse_req_t request)
{
    return *static_cast<Filesystem *>(fuse_req_userdata(request));
}

/* By which calls that take no descriptor find what a request names. */
inline std::string path_beneath(fuse_req_t request, fuse_ino_t number)
{
    return Inodes::path_of(filesystem_of(request).inodes.fd(number));
}

/* A file that somebody has open. Its inode outlives it, as the kernel knows that as long. */
class Handle {
public:
    Handle(Filesystem &filesystem, Inode &inode, ptsched::UniqueFd fd)
        : fd_(std::move(fd)), backing_(fd_.get()),
          file_(backing_, filesystem.volume, filesystem.engine, inode.lock, filesystem.inodes.key_of(inode))
    {
    }
    int fd() const { return fd_.get(); }
    StoredFile &file() { return file_; }

private:
    const ptsched::UniqueFd fd_;
    FileBacking backing_;
    StoredFile file_;
};

/* For flags of open(2): what is written in a sector is read before, and where is said each time. */
ptsched::UniqueFd open_beneath(Inodes &inodes, fuse_ino_t number, int flags);
int flags_beneath(int flags);

/* @mode without what the umask of who asks takes away, unless the folder has rights of its own for what is new. */
mode_t mode_of_new(fuse_req_t request, fuse_ino_t folder, mode_t mode);

/* What has just been made in @folder; it is removed if the kernel cannot know it, say for want of descriptors. */
fuse_entry_param look_up_new(Inodes &inodes, fuse_ino_t folder, const char *name);
void remove_new(Inodes &inodes, fuse_ino_t folder, const char *name);

/* The requests of each part. */
void add_name_operations(fuse_lowlevel_ops &operations);
void add_attribute_operations(fuse_lowlevel_ops &operations);
void add_file_operations(fuse_lowlevel_ops &operations);
void add_folder_operations(fuse_lowlevel_ops &operations);

} // namespace ptcryptfs

#endif /* PTCRYPTFS_FS_FILESYSTEM_HPP */
