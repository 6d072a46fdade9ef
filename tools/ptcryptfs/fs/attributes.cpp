// SPDX-License-Identifier: MIT
/* Requests about what a file has besides its content. */
#include "tools/ptcryptfs/fs/answer.hpp"
#include "tools/ptcryptfs/fs/filesystem.hpp"

#include <array>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace ptcryptfs {

namespace {

void reply_attributes(fuse_req_t request, int fd)
{
    const struct stat status = Inodes::status_of(fd);
    fuse_reply_attr(request, &status, remembered);
}

void get(fuse_req_t request, fuse_ino_t number, fuse_file_info *)
{
    answer(request, [&] { reply_attributes(request, filesystem_of(request).inodes.fd(number)); });
}

/* Through a descriptor that is open, where there is one: the file may have no rights any more. */
void resize(fuse_req_t request, fuse_ino_t number, off_t size, const fuse_file_info *open)
{
    const auto bytes = static_cast<std::uint64_t>(size);
    if (open) {
        reinterpret_cast<Handle *>(open->fh)->file().resize(bytes);
        return;
    }
    Filesystem &filesystem = filesystem_of(request);
    Handle(filesystem, filesystem.inodes.of(number), open_beneath(filesystem.inodes, number, O_RDWR))
        .file()
        .resize(bytes);
}

std::array<timespec, 2> times_of(const struct stat &wanted, int what)
{
    const auto time = [what](int set, int now, const timespec &time) {
        return what & now ? timespec{0, UTIME_NOW} : what & set ? time : timespec{0, UTIME_OMIT};
    };
    return {time(FUSE_SET_ATTR_ATIME, FUSE_SET_ATTR_ATIME_NOW, wanted.st_atim),
            time(FUSE_SET_ATTR_MTIME, FUSE_SET_ATTR_MTIME_NOW, wanted.st_mtim)};
}

void set(fuse_req_t request, fuse_ino_t number, struct stat *wanted, int what, fuse_file_info *open)
{
    answer(request, [&] {
        const int fd = filesystem_of(request).inodes.fd(number);
        if (what & FUSE_SET_ATTR_MODE)
            need(chmod(path_beneath(request, number).c_str(), wanted->st_mode));
        if (what & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID))
            need(fchownat(fd, "", what & FUSE_SET_ATTR_UID ? wanted->st_uid : static_cast<uid_t>(-1),
                          what & FUSE_SET_ATTR_GID ? wanted->st_gid : static_cast<gid_t>(-1),
                          AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
        if (what & FUSE_SET_ATTR_SIZE)
            resize(request, number, wanted->st_size, open);
        if (what & (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_ATIME_NOW | FUSE_SET_ATTR_MTIME_NOW))
            need(utimensat(fd, "", times_of(*wanted, what).data(), AT_EMPTY_PATH));
        reply_attributes(request, fd);
    });
}

void about_all(fuse_req_t request, fuse_ino_t number)
{
    answer(request, [&] {
        struct statvfs status;
        need(fstatvfs(filesystem_of(request).inodes.fd(number), &status));
        fuse_reply_statfs(request, &status);
    });
}

/* @read: with a buffer and its size, of which zero asks how large it must be, as the calls for extended attributes. */
template <typename Read> void reply_extended(fuse_req_t request, std::size_t size, Read read)
{
    answer(request, [&] {
        std::vector<char> value(size);
        const auto bytes = static_cast<std::size_t>(need(read(value.data(), size)));
        if (size)
            fuse_reply_buf(request, value.data(), bytes);
        else
            fuse_reply_xattr(request, bytes);
    });
}

void get_extended(fuse_req_t request, fuse_ino_t number, const char *name, std::size_t size)
{
    reply_extended(request, size, [&](char *to, std::size_t most) {
        return getxattr(path_beneath(request, number).c_str(), name, to, most);
    });
}

void list_extended(fuse_req_t request, fuse_ino_t number, std::size_t size)
{
    reply_extended(request, size, [&](char *to, std::size_t most) {
        return listxattr(path_beneath(request, number).c_str(), to, most);
    });
}

void set_extended(fuse_req_t request, fuse_ino_t number, const char *name, const char *value, std::size_t size,
                  int flags)
{
    carry_out(request, [&] { need(setxattr(path_beneath(request, number).c_str(), name, value, size, flags)); });
}

void remove_extended(fuse_req_t request, fuse_ino_t number, const char *name)
{
    carry_out(request, [&] { need(removexattr(path_beneath(request, number).c_str(), name)); });
}

} // namespace

void add_attribute_operations(fuse_lowlevel_ops &operations)
{
    operations.getattr = get;
    operations.setattr = set;
    operations.statfs = about_all;
    operations.getxattr = get_extended;
    operations.listxattr = list_extended;
    operations.setxattr = set_extended;
    operations.removexattr = remove_extended;
}

} // namespace ptcryptfs
