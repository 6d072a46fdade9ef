/* SPDX-License-Identifier: MIT */
#ifndef TEST_DRIVER_CALLS_HPP
#define TEST_DRIVER_CALLS_HPP

#include <dlfcn.h>

/* How often the driver whose calls do nothing was called; 0 of another, which does not count. */
inline unsigned long driver_calls()
{
    static auto *count = reinterpret_cast<unsigned long (*)()>(dlsym(RTLD_DEFAULT, "ptsched_null_calls"));
    return count ? count() : 0;
}

#endif /* TEST_DRIVER_CALLS_HPP */
