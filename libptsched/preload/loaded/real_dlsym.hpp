/* SPDX-License-Identifier: MIT */
/* The C library's own dlsym() and dlvsym(), which ours hide. */
#ifndef PTSCHED_PRELOAD_LOADED_REAL_DLSYM_HPP
#define PTSCHED_PRELOAD_LOADED_REAL_DLSYM_HPP

namespace ptsched::preload {

using DlsymFn = void *(*)(void *handle, const char *name);
using DlvsymFn = void *(*)(void *handle, const char *name, const char *version);

DlsymFn real_dlsym();
DlvsymFn real_dlvsym();

} // namespace ptsched::preload

#endif
