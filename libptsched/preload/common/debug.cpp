// SPDX-License-Identifier: MIT
#include "libptsched/preload/common/debug.hpp"

#include "libptsched/preload/common/config.hpp"
#include "libptsched/preload/common/warn.hpp"

#include <cstdarg>

namespace ptsched::preload {

void debug(const char *format, ...)
{
    if (!config().debug)
        return;
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

} // namespace ptsched::preload
