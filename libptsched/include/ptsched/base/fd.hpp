/* SPDX-License-Identifier: MIT */
/* A file descriptor that closes itself. */
#ifndef PTSCHED_BASE_FD_HPP
#define PTSCHED_BASE_FD_HPP

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#pragma GCC visibility push(default)

namespace ptsched {

class UniqueFd {
public:
    UniqueFd() = default;
    explicit UniqueFd(int fd) : fd_(fd) {}
    UniqueFd(UniqueFd &&other) noexcept : fd_(other.release()) {}
    UniqueFd &operator=(UniqueFd &&other) noexcept
    {
        reset(other.release());
        return *this;
    }
    ~UniqueFd() { reset(); }

    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    int release() { return std::exchange(fd_, -1); }
    void reset(int fd = -1)
    {
        int old = std::exchange(fd_, fd);
        if (old >= 0)
            ::close(old);
    }

private:
    int fd_ = -1;
};

/*
 * @fd as the call that opened it has returned it: negative with errno, or a descriptor that becomes the result's. In a
 * program whose standard streams are closed it would be one of these, and what the program prints would go there. It is
 * moved above them; none and errno where there is no room for that.
 */
inline UniqueFd above_streams(int fd)
{
    UniqueFd low(fd);
    if (fd < 0 || fd > STDERR_FILENO)
        return low;
    UniqueFd moved(fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    int error = errno;
    low.reset();
    errno = error;
    return moved;
}

} // namespace ptsched

#pragma GCC visibility pop

#endif
