// SPDX-License-Identifier: MIT
#include "tools/ptschedd/log.hpp"

#include <algorithm>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ptsched {
namespace {

void print(const char *format, va_list arguments)
{
    /* In one go, since threads and processes write to the same file; and without memory that there may not be. */
    char line[PIPE_BUF] = "ptschedd: ";
    const std::size_t begin = strlen(line), room = sizeof(line) - begin - 1;
    const int length = vsnprintf(line + begin, room, format, arguments);
    if (length < 0)
        return;
    const std::size_t end = begin + std::min(static_cast<std::size_t>(length), room - 1);
    line[end] = '\n';
    fwrite(line, 1, end + 1, stderr);
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
