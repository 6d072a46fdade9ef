/* SPDX-License-Identifier: MIT */
/* A descriptor that a library keeps open in a program that knows nothing of it. */
#ifndef PTSCHED_BASE_KEPT_FD_HPP
#define PTSCHED_BASE_KEPT_FD_HPP

#include "libptsched/base/file_identity.hpp"
#include <ptsched/base/fd.hpp>

namespace ptsched {

/*
 * Programs count on low numbers, move descriptors about with dup2(), and close all that they do not know. Therefore a
 * kept descriptor has a high number, and it remembers which file it stands for: once the program has closed it, or has
 * another file under its number, nothing of the program's is touched. That the file is told by device and inode means
 * that it must be one of a kind: a socket, a pipe or a memfd, but not an eventfd.
 */
class KeptFd {
public:
    KeptFd() = default;
    /* Moves it to a high number where there is room. */
    explicit KeptFd(UniqueFd fd);
    KeptFd(KeptFd &&other) noexcept : fd_(std::move(other.fd_)), file_(other.file_) {}
    KeptFd &operator=(KeptFd &&other) noexcept;
    ~KeptFd() { reset(); }

    /* The number, whatever it stands for by now; -1: none. */
    int get() const { return fd_.get(); }
    explicit operator bool() const { return static_cast<bool>(fd_); }
    /* Whether the number still stands for the file. One system call. */
    bool is_ours() const;
    /* Closes it, unless it is no longer ours. */
    void reset();

private:
    UniqueFd fd_;
    FileIdentity file_;
};

} // namespace ptsched

#endif
