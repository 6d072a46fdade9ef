// SPDX-License-Identifier: MIT
#include "libptsched/base/kept_fd.hpp"

#include <algorithm>
#include <sys/resource.h>

namespace ptsched {
namespace {

/*
 * So far below the limit on descriptors, and below what select() can take: few programs use these numbers, and the
 * kernel's table does not grow much.
 */
constexpr rlim_t kMargin = 64, kCommonLimit = 1024;

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
    if (!fd_)
        return;
    UniqueFd high(fcntl(fd_.get(), F_DUPFD_CLOEXEC, first_high_number()));
    if (high)
        fd_ = std::move(high);
    file_ = FileIdentity::of(fd_.get());
    if (!file_.known)
        fd_.reset();
}

KeptFd &KeptFd::operator=(KeptFd &&other) noexcept
{
    reset();
    fd_ = std::move(other.fd_);
    file_ = other.file_;
    return *this;
}

bool KeptFd::is_ours() const
{
    return fd_ && FileIdentity::of(fd_.get()) == file_;
}

void KeptFd::reset()
{
    if (is_ours())
        fd_.reset();
    else
        fd_.release();
}

} // namespace ptsched
