// SPDX-License-Identifier: MIT
#include "kept_fd.hpp"

#include <algorithm>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

namespace ptsched {
namespace {

// So far below the limit on descriptors, and below what select() can take: few programs use these numbers, and the
// kernel's table does not grow much.
constexpr rlim_t kMargin = 64, kCommonLimit = 1024;

// There is no fstat() to call in a C library before glibc 2.33.
bool look_at(int fd, struct stat &status)
{
    return syscall(SYS_fstat, fd, &status) == 0;
}

int first_high_number()
{
    rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return STDERR_FILENO + 1;
    rlim_t end = std::min(limit.rlim_cur, kCommonLimit);
    return end > 2 * kMargin ? static_cast<int>(end - kMargin) : STDERR_FILENO + 1;
}

} // namespace

KeptFd::KeptFd(UniqueFd fd) : fd_(std::move(fd))
{
    struct stat status;
    if (!fd_)
        return;
    UniqueFd high(fcntl(fd_.get(), F_DUPFD_CLOEXEC, first_high_number()));
    if (high)
        fd_ = std::move(high);
    if (!look_at(fd_.get(), status)) {
        fd_.reset();
        return;
    }
    device_ = status.st_dev;
    inode_ = status.st_ino;
}

KeptFd &KeptFd::operator=(KeptFd &&other) noexcept
{
    reset();
    fd_ = std::move(other.fd_);
    device_ = other.device_;
    inode_ = other.inode_;
    return *this;
}

bool KeptFd::is_ours() const
{
    struct stat status;
    return fd_ && look_at(fd_.get(), status) && status.st_dev == device_ && status.st_ino == inode_;
}

void KeptFd::reset()
{
    if (is_ours())
        fd_.reset();
    else
        fd_.release();
}

} // namespace ptsched
