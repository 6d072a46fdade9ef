// SPDX-License-Identifier: MIT
#include "tools/ptcryptfs/store/backing.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace ptcryptfs {

namespace {

/* @result as a system call returns it. */
std::size_t done(ssize_t result)
{
    if (result < 0)
        throw std::system_error(errno, std::generic_category());
    return static_cast<std::size_t>(result);
}

off_t offset(std::uint64_t at)
{
    return static_cast<off_t>(at);
}

} // namespace

void FileBacking::read(std::uint64_t at, Bytes to) const
{
    while (!to.empty()) {
        const ssize_t result = pread(fd_, to.data(), to.size(), offset(at));
        if (result < 0 && errno == EINTR)
            continue;
        const std::size_t bytes = done(result);
        if (!bytes)
            break;
        at += bytes;
        to = to.subspan(bytes);
    }
    std::ranges::fill(to, std::byte{0});
}

void FileBacking::write(std::uint64_t at, ConstBytes from)
{
    while (!from.empty()) {
        const ssize_t result = pwrite(fd_, from.data(), from.size(), offset(at));
        if (result < 0 && errno == EINTR)
            continue;
        const std::size_t bytes = done(result);
        at += bytes;
        from = from.subspan(bytes);
    }
}

std::uint64_t FileBacking::size() const
{
    struct stat status;
    done(fstat(fd_, &status));
    return static_cast<std::uint64_t>(status.st_size);
}

bool FileBacking::has_data(std::uint64_t at) const
{
    const off_t found = lseek(fd_, offset(at), SEEK_DATA);
    if (found < 0 && errno == ENXIO)
        return false;
    done(found);
    return true;
}

void FileBacking::resize(std::uint64_t size)
{
    done(ftruncate(fd_, offset(size)));
}

void FileBacking::punch(std::uint64_t at, std::uint64_t bytes)
{
    done(fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset(at), offset(bytes)));
}

} // namespace ptcryptfs
