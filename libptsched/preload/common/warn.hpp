/* SPDX-License-Identifier: MIT */
/* What the interposer tells the user: at most one warning of a kind. */
#ifndef PTSCHED_PRELOAD_COMMON_WARN_HPP
#define PTSCHED_PRELOAD_COMMON_WARN_HPP

#include <atomic>
#include <cstdarg>

namespace ptsched::preload {

/* Writes "ptsched: ..." to standard error, as far as that still is the program's of its start. */
__attribute__((format(printf, 1, 0))) void say(const char *format, va_list arguments);

/* The same, the first time that @once is seen unset. */
__attribute__((format(printf, 2, 3))) void warn_once(std::atomic<bool> &once, const char *format, ...);

} // namespace ptsched::preload

#endif
