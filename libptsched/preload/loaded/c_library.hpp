/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PRELOAD_LOADED_C_LIBRARY_HPP
#define PTSCHED_PRELOAD_LOADED_C_LIBRARY_HPP

namespace ptsched::preload {

/*
 * Whether the process has the C library that this library was made for. With another, such as musl, nothing of it may
 * be called that is not called anyway; the driver does not run there either.
 */
bool has_glibc();

} // namespace ptsched::preload

#endif
