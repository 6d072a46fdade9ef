// SPDX-License-Identifier: MIT
#include "libptsched/ptask/devices/exempt.hpp"

#include <dlfcn.h>

namespace ptsched::ptask {

bool Exempt::set(int yes)
{
    static const auto exempt = reinterpret_cast<int (*)(int)>(dlsym(RTLD_DEFAULT, "ptsched_preload_exempt"));
    return !exempt || exempt(yes);
}

} // namespace ptsched::ptask
