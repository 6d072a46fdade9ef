// SPDX-License-Identifier: MIT
/*
 * Preloaded behind the interposer where the engine is vgpud's: makes the socket to it look and behave like the driver's
 * control device, as /dev/vgpu does by itself. vgpu.ko needs none of this.
 */
#include "tests/vgpu/rm.h"

#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#define SHIM_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

bool is_link(int fd)
{
    sockaddr_un address{};
    socklen_t size = sizeof(address);
    const char *path = std::getenv("PTSCHED_VGPU_SOCKET");

    return path && getpeername(fd, reinterpret_cast<sockaddr *>(&address), &size) == 0 &&
           address.sun_family == AF_UNIX && std::strncmp(address.sun_path, path, sizeof(address.sun_path)) == 0;
}

using RmIoctl = int(int, unsigned long, void *);

RmIoctl *driver_ioctl()
{
    static RmIoctl *function = [] {
        void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
        return driver ? reinterpret_cast<RmIoctl *>(dlsym(driver, "vgpu_rm_ioctl")) : nullptr;
    }();
    return function;
}

/* The C library's. */
template <class... Arguments> long next_syscall(Arguments... arguments)
{
    static auto *next = reinterpret_cast<decltype(&syscall)>(dlsym(RTLD_NEXT, "syscall"));
    return next(arguments...);
}

} // namespace

SHIM_EXPORT int ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (_IOC_TYPE(request) == 'F' && is_link(fd) && driver_ioctl())
        return driver_ioctl()(fd, request, argument);
    return static_cast<int>(next_syscall(SYS_ioctl, fd, request, argument));
}

/*
 * Through which the interposer calls fstat(), since that is not in every C library. Nobody says how many arguments
 * there are: as in the C library, words that are none are read and handed on.
 */
SHIM_EXPORT __attribute__((no_sanitize("address"))) long syscall(long number, ...) noexcept
{
    va_list arguments;
    long words[6];
    va_start(arguments, number);
    for (long &word : words)
        word = va_arg(arguments, long);
    va_end(arguments);
    long result = next_syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
    if (number != SYS_fstat || result)
        return result;
    auto *info = reinterpret_cast<struct stat *>(words[1]);
    if (S_ISSOCK(info->st_mode) && is_link(static_cast<int>(words[0]))) {
        info->st_mode = S_IFCHR | 0666;
        info->st_rdev = makedev(VGPU_RM_MAJOR, VGPU_RM_MINOR);
    }
    return result;
}
