/* SPDX-License-Identifier: MIT */
/* The C library's own dlsym() and dlvsym(), which ours hide. */
#ifndef PTSCHED_PRELOAD_ENTRY_DLSYM_HPP
#define PTSCHED_PRELOAD_ENTRY_DLSYM_HPP

namespace ptsched::preload {

using DlsymFn = void *(*)(void *handle, const char *name);
using DlvsymFn = void *(*)(void *handle, const char *name, const char *version);

DlsymFn real_dlsym();
DlvsymFn real_dlvsym();

/* What the program shall get for a driver name looked up in @handle; @version may be NULL. In procaddr.cpp. */
bool is_driver_name(const char *name);
void *resolve_name(void *handle, const char *name, const char *version);

} // namespace ptsched::preload

#endif
