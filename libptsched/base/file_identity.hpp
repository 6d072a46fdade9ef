/* SPDX-License-Identifier: MIT */
/* Which file a descriptor stands for, by which a library sees that a program has put another one under its number. */
#ifndef PTSCHED_BASE_FILE_IDENTITY_HPP
#define PTSCHED_BASE_FILE_IDENTITY_HPP

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace ptsched {

struct FileIdentity {
    bool known = false; /* nothing is the same as what is not known */
    dev_t device = 0;
    ino_t inode = 0;
    dev_t special = 0;

    /* One system call, and not fstat(), which is not there to call in a C library before glibc 2.33. */
    static FileIdentity of(int fd)
    {
        struct stat status;
        if (syscall(SYS_fstat, fd, &status) < 0)
            return {};
        return {true, status.st_dev, status.st_ino, status.st_rdev};
    }
    bool operator==(const FileIdentity &other) const
    {
        return known && other.known && device == other.device && inode == other.inode && special == other.special;
    }
};

} // namespace ptsched

#endif
