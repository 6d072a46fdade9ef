/* SPDX-License-Identifier: MIT */
#include "rm_abi.h"
#include "rm_channels.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace ptsched::rm {

bool is_control_device(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 && S_ISCHR(info.st_mode) && major(info.st_rdev) == device_major &&
           minor(info.st_rdev) == control_minor;
}

} // namespace ptsched::rm
