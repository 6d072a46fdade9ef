/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PRELOAD_COMMON_DEBUG_HPP
#define PTSCHED_PRELOAD_COMMON_DEBUG_HPP

namespace ptsched::preload {

/* Writes "ptsched: ..." to standard error, with PTSCHED_LOG=debug only. */
__attribute__((format(printf, 1, 2))) void debug(const char *format, ...);

} // namespace ptsched::preload

#endif
