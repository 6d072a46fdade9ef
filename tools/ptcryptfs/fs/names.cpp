// SPDX-License-Identifier: MIT
/* Requests about names: they are in clear, and the folder beneath has them. */
#include "tools/ptcryptfs/fs/answer.hpp"
#include "tools/ptcryptfs/fs/filesystem.hpp"

#include <climits>
#include <fcntl.h>
#include <unistd.h>

namespace ptcryptfs {

namespace {

/* What the kernel has not been told of, it does not forget. */
void reply_entry(fuse_req_t request, const fuse_entry_param &entry)
{
    if (fuse_reply_entry(request, &entry) != 0)
        filesystem_of(request).inodes.forget(entry.ino, 1);
}

void look_up(fuse_req_t request, fuse_ino_t folder, const char *name)
{
    answer(request, [&] { reply_entry(request, filesystem_of(request).inodes.look_up(folder, name)); });
}

void forget(fuse_req_t request, fuse_ino_t number, std::uint64_t lookups)
{
    filesystem_of(request).inodes.forget(number, lookups);
    fuse_reply_none(request);
}

void forget_many(fuse_req_t request, std::size_t count, fuse_forget_data *forgets)
{
    for (std::size_t i = 0; i < count; i++)
        filesystem_of(request).inodes.forget(forgets[i].ino, forgets[i].nlookup);
    fuse_reply_none(request);
}

/* @make: of the folder's descriptor, as a system call does. */
template <typename Make> void make_name(fuse_req_t request, fuse_ino_t folder, const char *name, Make make)
{
    answer(request, [&] {
        Inodes &inodes = filesystem_of(request).inodes;
        {
            const Owner owner(*fuse_req_ctx(request));
            need(make(inodes.fd(folder)));
        }
        reply_entry(request, look_up_new(inodes, folder, name));
    });
}

void make_node(fuse_req_t request, fuse_ino_t folder, const char *name, mode_t mode, dev_t device)
{
    make_name(request, folder, name,
              [&](int fd) { return mknodat(fd, name, mode_of_new(request, folder, mode), device); });
}

void make_folder(fuse_req_t request, fuse_ino_t folder, const char *name, mode_t mode)
{
    make_name(request, folder, name, [&](int fd) { return mkdirat(fd, name, mode_of_new(request, folder, mode)); });
}

void make_symlink(fuse_req_t request, const char *to, fuse_ino_t folder, const char *name)
{
    make_name(request, folder, name, [&](int fd) { return symlinkat(to, fd, name); });
}

void make_link(fuse_req_t request, fuse_ino_t number, fuse_ino_t folder, const char *name)
{
    make_name(request, folder, name, [&](int fd) {
        return linkat(AT_FDCWD, path_beneath(request, number).c_str(), fd, name, AT_SYMLINK_FOLLOW);
    });
}

void remove_name(fuse_req_t request, fuse_ino_t folder, const char *name)
{
    carry_out(request, [&] { need(unlinkat(filesystem_of(request).inodes.fd(folder), name, 0)); });
}

void remove_folder(fuse_req_t request, fuse_ino_t folder, const char *name)
{
    carry_out(request, [&] { need(unlinkat(filesystem_of(request).inodes.fd(folder), name, AT_REMOVEDIR)); });
}

void change_name(fuse_req_t request, fuse_ino_t folder, const char *name, fuse_ino_t to, const char *new_name,
                 unsigned flags)
{
    carry_out(request, [&] {
        Inodes &inodes = filesystem_of(request).inodes;
        need(renameat2(inodes.fd(folder), name, inodes.fd(to), new_name, flags));
    });
}

void read_symlink(fuse_req_t request, fuse_ino_t number)
{
    answer(request, [&] {
        char to[PATH_MAX + 1];
        const ssize_t bytes = need(readlinkat(filesystem_of(request).inodes.fd(number), "", to, PATH_MAX));
        to[bytes] = '\0';
        fuse_reply_readlink(request, to);
    });
}

} // namespace

fuse_entry_param look_up_new(Inodes &inodes, fuse_ino_t folder, const char *name)
{
    try {
        return inodes.look_up(folder, name);
    } catch (...) {
        remove_new(inodes, folder, name);
        throw;
    }
}

void remove_new(Inodes &inodes, fuse_ino_t folder, const char *name)
{
    const int fd = inodes.fd(folder);
    if (unlinkat(fd, name, 0) < 0 && errno == EISDIR)
        unlinkat(fd, name, AT_REMOVEDIR);
}

void add_name_operations(fuse_lowlevel_ops &operations)
{
    operations.lookup = look_up;
    operations.forget = forget;
    operations.forget_multi = forget_many;
    operations.mknod = make_node;
    operations.mkdir = make_folder;
    operations.symlink = make_symlink;
    operations.link = make_link;
    operations.unlink = remove_name;
    operations.rmdir = remove_folder;
    operations.rename = change_name;
    operations.readlink = read_symlink;
}

} // namespace ptcryptfs
