// SPDX-License-Identifier: MIT
/* ioctl() as the driver library sees it: straight through, and the channels that it makes are remembered. */
#include "libptsched/preload/common/config.hpp"
#include "libptsched/preload/loaded/real_dlsym.hpp"
#include "libptsched/preload/turn/channels.hpp"
#include "libptsched/rm/rm_channels.hpp"

#include <atomic>
#include <cstdarg>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace ptsched::preload;

/* The C library's, or the next interposer's. */
int ptsched::rm::driver_ioctl(int fd, unsigned long request, void *argument)
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

extern "C" PTSCHED_EXPORT int ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    int result = ptsched::rm::driver_ioctl(fd, request, argument);
    if (result >= 0)
        channels->saw_ioctl(fd, request, argument);
    return result;
}
