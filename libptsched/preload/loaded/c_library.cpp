// SPDX-License-Identifier: MIT
#include "libptsched/preload/loaded/c_library.hpp"

extern "C" {
const char *gnu_get_libc_version() __attribute__((weak));

/* The C++ library would save atomic operations in a program without threads. Older glibc does not say whether it is. */
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;
}

namespace ptsched::preload {

bool has_glibc()
{
    return gnu_get_libc_version != nullptr;
}

} // namespace ptsched::preload
