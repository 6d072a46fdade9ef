// SPDX-License-Identifier: MIT
#include "log.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ptsched {
namespace {

void print(const char *format, va_list arguments)
{
    flockfile(stderr); // two threads write
    fputs("ptschedd: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    funlockfile(stderr);
}

} // namespace

void warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
}

void debug(const char *format, ...)
{
    static const char *level = getenv("PTSCHED_LOG");
    static const bool enabled = level && strcmp(level, "debug") == 0;
    if (!enabled)
        return;
    va_list arguments;
    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
}

} // namespace ptsched
