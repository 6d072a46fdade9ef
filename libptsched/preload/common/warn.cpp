// SPDX-License-Identifier: MIT
#include "libptsched/preload/common/warn.hpp"

#include "libptsched/base/standard_error.hpp"

#include <cstddef>
#include <cstdio>
#include <cstring>

namespace ptsched::preload {

void say(const char *format, va_list arguments)
{
    static constexpr char prefix[] = "ptsched: ";
    constexpr std::size_t prefix_length = sizeof(prefix) - 1;
    char line[512];
    std::memcpy(line, prefix, prefix_length);
    int length = std::vsnprintf(line + prefix_length, sizeof(line) - prefix_length - 1, format, arguments);
    if (length < 0)
        return;
    std::size_t end = prefix_length + static_cast<std::size_t>(length);
    end = end < sizeof(line) - 1 ? end : sizeof(line) - 2;
    line[end++] = '\n';
    write_to_user(line, end);
}

void warn_once(std::atomic<bool> &once, const char *format, ...)
{
    if (once.exchange(true))
        return;
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

} // namespace ptsched::preload
