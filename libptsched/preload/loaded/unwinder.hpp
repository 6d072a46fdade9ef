/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PRELOAD_LOADED_UNWINDER_HPP
#define PTSCHED_PRELOAD_LOADED_UNWINDER_HPP

namespace ptsched::preload {

/* Loads what an exception needs, where it is not loaded yet: it may come when there is no more memory for that. */
#ifdef PTSCHED_PROGRAMS_UNWINDER
void load_unwinder();
#else
inline void load_unwinder() {}
#endif

} // namespace ptsched::preload

#endif
