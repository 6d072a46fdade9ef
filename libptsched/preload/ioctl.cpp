/* SPDX-License-Identifier: MIT */
/* ioctl() as the driver library sees it: straight through, and the channels that it makes are remembered. */
#include "channels.hpp"
#include "config.hpp"
#include "dlsym.hpp"
#include "rm_abi.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>

namespace ptsched::preload {

int real_ioctl(int fd, unsigned long request, void *argument)
{
    using Ioctl = int(int, unsigned long, ...);
    static std::atomic<Ioctl *> next{nullptr};
    Ioctl *function = next.load(std::memory_order_relaxed);
    if (!function && real_dlsym()) {
        function = reinterpret_cast<Ioctl *>(real_dlsym()(RTLD_NEXT, "ioctl"));
        next.store(function, std::memory_order_relaxed);
    }
    return function ? function(fd, request, argument) : static_cast<int>(syscall(SYS_ioctl, fd, request, argument));
}

bool is_control_device(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 && S_ISCHR(info.st_mode) && major(info.st_rdev) == rm::device_major &&
           minor(info.st_rdev) == rm::control_minor;
}

} // namespace ptsched::preload

using namespace ptsched::preload;

extern "C" PTSCHED_EXPORT int ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    int result = real_ioctl(fd, request, argument);
    if (result >= 0)
        channels->saw_ioctl(fd, request, argument);
    return result;
}
