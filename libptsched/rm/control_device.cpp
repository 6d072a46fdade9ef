// SPDX-License-Identifier: MIT
#include "libptsched/rm/rm_abi.h"
#include "libptsched/rm/rm_channels.hpp"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace ptsched::rm {

bool is_control_device(int fd)
{
    struct stat info;
    /* There is no fstat() to call in a C library before glibc 2.33. */
    return syscall(SYS_fstat, fd, &info) == 0 && S_ISCHR(info.st_mode) && major(info.st_rdev) == device_major &&
           minor(info.st_rdev) == control_minor;
}

} // namespace ptsched::rm
