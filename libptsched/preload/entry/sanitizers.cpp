// SPDX-License-Identifier: MIT
/* What a sanitizer's own library, when the program is linked with one, asks of whoever comes first. */
#include "libptsched/preload/common/config.hpp"

/*
 * A program with the address sanitizer's shared library ends when another library has been loaded before that one. Ours
 * has none of the functions that it replaces, and could not come behind it: what is preloaded comes first. The
 * program's own function of this name goes before this one, and so does what ASAN_OPTIONS says.
 */
extern "C" PTSCHED_EXPORT const char *__asan_default_options()
{
    return "verify_asan_link_order=0";
}
