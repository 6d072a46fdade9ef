/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PRELOAD_COMMON_EXITING_HPP
#define PTSCHED_PRELOAD_COMMON_EXITING_HPP

#include <atomic>

namespace ptsched::preload {

/* Set at exit: no more waiting, no more measuring. */
extern std::atomic<bool> exiting;

} // namespace ptsched::preload

#endif
