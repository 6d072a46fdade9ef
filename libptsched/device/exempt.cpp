// SPDX-License-Identifier: MIT
#include <ptsched/device/turns.hpp>

#include <dlfcn.h>

namespace ptsched::device {

bool Exempt::set(int yes)
{
    static const auto exempt = reinterpret_cast<int (*)(int)>(dlsym(RTLD_DEFAULT, "ptsched_preload_exempt"));
    return !exempt || exempt(yes);
}

} // namespace ptsched::device
