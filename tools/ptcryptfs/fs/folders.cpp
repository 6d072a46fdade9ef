// SPDX-License-Identifier: MIT
/* Requests about what is in a folder. */
#include "tools/ptcryptfs/fs/answer.hpp"
#include "tools/ptcryptfs/fs/filesystem.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <mutex>
#include <unistd.h>

namespace ptcryptfs {

namespace {

/* A folder that somebody has open. */
class Listing {
public:
    explicit Listing(ptsched::UniqueFd fd) : stream_(fdopendir(fd.get()))
    {
        if (!stream_)
            throw std::system_error(errno, std::generic_category());
        fd.release();
    }
    int fd() const { return dirfd(stream_.get()); }
    /* Entries from @at on, as many as have room in @most bytes. */
    std::vector<char> read(fuse_req_t request, off_t at, std::size_t most)
    {
        const std::lock_guard guard(mutex_);
        std::vector<char> found(most);
        std::size_t used = 0;
        seekdir(stream_.get(), at);
        for (;;) {
            errno = 0;
            const dirent *const entry = readdir(stream_.get());
            if (!entry && errno)
                throw std::system_error(errno, std::generic_category());
            if (!entry)
                break;
            struct stat status {};
            status.st_ino = entry->d_ino;
            status.st_mode = DTTOIF(entry->d_type);
            const std::size_t bytes =
                fuse_add_direntry(request, found.data() + used, most - used, entry->d_name, &status, entry->d_off);
            if (bytes > most - used)
                break;
            used += bytes;
        }
        found.resize(used);
        return found;
    }

private:
    struct Close {
        void operator()(DIR *stream) const { closedir(stream); }
    };
    std::mutex mutex_;
    const std::unique_ptr<DIR, Close> stream_;
};

Listing &listing_of(const fuse_file_info *open)
{
    return *reinterpret_cast<Listing *>(open->fh);
}

void open_folder(fuse_req_t request, fuse_ino_t number, fuse_file_info *open)
{
    answer(request, [&] {
        const int folder = filesystem_of(request).inodes.fd(number);
        auto listing =
            std::make_unique<Listing>(ptsched::UniqueFd(need(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC))));
        open->fh = reinterpret_cast<std::uintptr_t>(listing.get());
        if (fuse_reply_open(request, open) == 0)
            static_cast<void>(listing.release());
    });
}

void read_folder(fuse_req_t request, fuse_ino_t, std::size_t bytes, off_t at, fuse_file_info *open)
{
    answer(request, [&] {
        const std::vector<char> found = listing_of(open).read(request, at, bytes);
        fuse_reply_buf(request, found.data(), found.size());
    });
}

void release_folder(fuse_req_t request, fuse_ino_t, fuse_file_info *open)
{
    carry_out(request, [&] { delete &listing_of(open); });
}

void sync_folder(fuse_req_t request, fuse_ino_t, int data_only, fuse_file_info *open)
{
    carry_out(request, [&] { sync_beneath(listing_of(open).fd(), data_only); });
}

} // namespace

void add_folder_operations(fuse_lowlevel_ops &operations)
{
    operations.opendir = open_folder;
    operations.readdir = read_folder;
    operations.releasedir = release_folder;
    operations.fsyncdir = sync_folder;
}

} // namespace ptcryptfs
