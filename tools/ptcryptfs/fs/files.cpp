// SPDX-License-Identifier: MIT
/* Requests about contents, which are encrypted. */
#include "tools/ptcryptfs/fs/answer.hpp"
#include "tools/ptcryptfs/fs/filesystem.hpp"

#include <fcntl.h>
#include <linux/falloc.h>
#include <unistd.h>

namespace ptcryptfs {

int flags_beneath(int flags)
{
    const int access = flags & O_ACCMODE;
    flags &= ~(O_ACCMODE | O_APPEND | O_TRUNC | O_DIRECT | O_NOCTTY);
    return flags | (access == O_RDONLY ? O_RDONLY : O_RDWR) | O_CLOEXEC;
}

ptsched::UniqueFd open_beneath(Inodes &inodes, fuse_ino_t number, int flags)
{
    const int allowed = flags_beneath(flags) & ~(O_CREAT | O_EXCL | O_NOFOLLOW);
    return ptsched::UniqueFd(need(open(Inodes::path_of(inodes.fd(number)).c_str(), allowed)));
}

namespace {

Handle &handle_of(const fuse_file_info *open)
{
    return *reinterpret_cast<Handle *>(open->fh);
}

std::uint64_t number_of(off_t at)
{
    return static_cast<std::uint64_t>(at);
}

std::unique_ptr<Handle> opened(fuse_req_t request, fuse_ino_t number, ptsched::UniqueFd fd)
{
    Filesystem &filesystem = filesystem_of(request);
    return std::make_unique<Handle>(filesystem, filesystem.inodes.of(number), std::move(fd));
}

void open_file(fuse_req_t request, fuse_ino_t number, fuse_file_info *open)
{
    answer(request, [&] {
        auto fd = open_beneath(filesystem_of(request).inodes, number, open->flags);
        auto handle = opened(request, number, std::move(fd));
        open->fh = reinterpret_cast<std::uintptr_t>(handle.get());
        /* A request that was interrupted is not to be released. */
        if (fuse_reply_open(request, open) == 0)
            static_cast<void>(handle.release());
    });
}

void create(fuse_req_t request, fuse_ino_t folder, const char *name, mode_t mode, fuse_file_info *open)
{
    answer(request, [&] {
        Inodes &inodes = filesystem_of(request).inodes;
        ptsched::UniqueFd fd;
        {
            /* The kernel has found that there is none. */
            const Owner owner(*fuse_req_ctx(request));
            fd.reset(need(openat(inodes.fd(folder), name, flags_beneath(open->flags) | O_CREAT | O_EXCL,
                                 mode_of_new(request, folder, mode))));
        }
        const fuse_entry_param entry = look_up_new(inodes, folder, name);
        std::unique_ptr<Handle> handle;
        try {
            handle = opened(request, entry.ino, std::move(fd));
        } catch (...) {
            inodes.forget(entry.ino, 1);
            remove_new(inodes, folder, name);
            throw;
        }
        open->fh = reinterpret_cast<std::uintptr_t>(handle.get());
        if (fuse_reply_create(request, &entry, open) == 0) {
            static_cast<void>(handle.release());
            return;
        }
        handle.reset();
        inodes.forget(entry.ino, 1);
    });
}

void release(fuse_req_t request, fuse_ino_t, fuse_file_info *open)
{
    carry_out(request, [&] { delete &handle_of(open); });
}

void read(fuse_req_t request, fuse_ino_t, std::size_t bytes, off_t at, fuse_file_info *open)
{
    answer(request, [&] {
        const Content content = handle_of(open).file().read(number_of(at), bytes);
        fuse_reply_buf(request, reinterpret_cast<const char *>(content.bytes.data()), content.bytes.size());
    });
}

void write(fuse_req_t request, fuse_ino_t, const char *from, std::size_t bytes, off_t at, fuse_file_info *open)
{
    answer(request, [&] {
        handle_of(open).file().write(number_of(at), std::as_bytes(std::span(from, bytes)));
        fuse_reply_write(request, bytes);
    });
}

/* Some file systems say at a close that there was no room; all say so when they write what there is. */
void flush(fuse_req_t request, fuse_ino_t, fuse_file_info *open)
{
    carry_out(request, [&] {
        const int fd = handle_of(open).fd(), other = dup(fd);
        need(other >= 0 ? close(other) : fdatasync(fd));
    });
}

void sync(fuse_req_t request, fuse_ino_t, int data_only, fuse_file_info *open)
{
    carry_out(request, [&] { sync_beneath(handle_of(open).fd(), data_only); });
}

void allocate(fuse_req_t request, fuse_ino_t, int mode, off_t at, off_t bytes, fuse_file_info *open)
{
    carry_out(request, [&] {
        Handle &handle = handle_of(open);
        const std::uint64_t begin = number_of(at), end = begin + number_of(bytes);
        const bool keeps_size = mode & FALLOC_FL_KEEP_SIZE,
                   is_zero = mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE);
        require_size(begin, number_of(bytes));
        if (mode & ~(FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE))
            throw std::system_error(EOPNOTSUPP, std::generic_category());
        if (is_zero)
            handle.file().punch(begin, number_of(bytes));
        if (mode & FALLOC_FL_PUNCH_HOLE)
            return;
        const std::uint64_t from = stored_at(begin / sector_bytes), to = stored_at(sectors_of(end));
        need(fallocate(handle.fd(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(from), static_cast<off_t>(to - from)));
        /* Only now: where there is no room, the size stays. */
        if (!keeps_size)
            handle.file().extend(end);
    });
}

/* In sectors, as those of zeros are holes beneath, too. */
void seek(fuse_req_t request, fuse_ino_t, off_t at, int whence, fuse_file_info *open)
{
    answer(request, [&] {
        Handle &handle = handle_of(open);
        const std::uint64_t size = handle.file().size(), from = number_of(at);
        if (from >= size)
            throw std::system_error(ENXIO, std::generic_category());
        const off_t begin = static_cast<off_t>(stored_at(from / sector_bytes));
        const std::uint64_t found = number_of(need(lseek(handle.fd(), begin, whence)));
        const std::uint64_t plain = std::max(from, (found - header_bytes) / sector_bytes * sector_bytes);
        if (whence == SEEK_DATA && plain >= size)
            throw std::system_error(ENXIO, std::generic_category());
        fuse_reply_lseek(request, static_cast<off_t>(std::min(plain, size)));
    });
}

} // namespace

void add_file_operations(fuse_lowlevel_ops &operations)
{
    operations.open = open_file;
    operations.create = create;
    operations.release = release;
    operations.read = read;
    operations.write = write;
    operations.flush = flush;
    operations.fsync = sync;
    operations.fallocate = allocate;
    operations.lseek = seek;
}

} // namespace ptcryptfs
