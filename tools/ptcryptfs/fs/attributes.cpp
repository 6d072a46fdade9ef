// SPDX-License-Identifier: MIT
/* Requests about what a file has besides its content. */
#include "tools/ptcryptfs/fs/answer.hpp"
#include "tools/ptcryptfs/fs/filesystem.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace ptcryptfs {

namespace {

void reply_attributes(fuse_req_t request, fuse_ino_t number)
{
    const struct stat status = Inodes::status_of(filesystem_of(request).inodes.of(number));
    fuse_reply_attr(request, &status, remembered);
}

void get(fuse_req_t request, fuse_ino_t number, fuse_file_info *)
{
    answer(request, [&] { reply_attributes(request, number); });
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

/* Beneath, what has the wanted size already may keep its time. Only who owns it may set that, and need not. */
void set_time_of_change(int fd)
{
    const std::array times{timespec{0, UTIME_OMIT}, timespec{0, UTIME_NOW}};
    static_cast<void>(utimensat(fd, "", times.data(), AT_EMPTY_PATH));
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
        if (what & FUSE_SET_ATTR_SIZE) {
            resize(request, number, wanted->st_size, open);
            set_time_of_change(fd);
        }
        if (what & (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_ATIME_NOW | FUSE_SET_ATTR_MTIME_NOW))
            need(utimensat(fd, "", times_of(*wanted, what).data(), AT_EMPTY_PATH));
        reply_attributes(request, number);
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

constexpr std::string_view access_list = "system.posix_acl_access", list_for_new = "system.posix_acl_default";

/* Where there are no access control lists beneath, the kernel is to go by the mode. */
ssize_t get_beneath(const std::string &path, std::string_view name, char *to, std::size_t most)
{
    const ssize_t bytes = getxattr(path.c_str(), name.data(), to, most);
    if (bytes < 0 && errno == EOPNOTSUPP && (name == access_list || name == list_for_new))
        errno = ENODATA;
    return bytes;
}

void get_extended(fuse_req_t request, fuse_ino_t number, const char *name, std::size_t size)
{
    reply_extended(request, size, [&](char *to, std::size_t most) {
        return get_beneath(path_beneath(request, number), name, to, most);
    });
}

bool is_in_group(fuse_req_t request, gid_t group)
{
    std::vector<gid_t> groups(NGROUPS_MAX);
    const int count = fuse_req_getgroups(request, NGROUPS_MAX, groups.data());
    groups.resize(static_cast<std::size_t>(std::max(count, 0)));
    return fuse_req_ctx(request)->gid == group || std::ranges::count(groups, group);
}

/* Who is not in a file's group makes it no program of that group by what the group may do. */
void take_group_away(fuse_req_t request, fuse_ino_t number)
{
    const struct stat status = Inodes::status_of(filesystem_of(request).inodes.of(number));
    if (status.st_mode & S_ISGID && fuse_req_ctx(request)->uid && !is_in_group(request, status.st_gid))
        need(chmod(path_beneath(request, number).c_str(), status.st_mode & 07777 & ~static_cast<mode_t>(S_ISGID)));
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
    carry_out(request, [&] {
        need(setxattr(path_beneath(request, number).c_str(), name, value, size, flags));
        if (name == access_list)
            take_group_away(request, number);
    });
}

void remove_extended(fuse_req_t request, fuse_ino_t number, const char *name)
{
    carry_out(request, [&] { need(removexattr(path_beneath(request, number).c_str(), name)); });
}

} // namespace

mode_t mode_of_new(fuse_req_t request, fuse_ino_t folder, mode_t mode)
{
    const bool has_list = getxattr(path_beneath(request, folder).c_str(), list_for_new.data(), nullptr, 0) >= 0;
    return has_list ? mode : mode & ~fuse_req_ctx(request)->umask;
}

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
