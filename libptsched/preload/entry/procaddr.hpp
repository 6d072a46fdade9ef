/* SPDX-License-Identifier: MIT */
/* What programs get that look up the driver's entry points by name. */
#ifndef PTSCHED_PRELOAD_ENTRY_PROCADDR_HPP
#define PTSCHED_PRELOAD_ENTRY_PROCADDR_HPP

namespace ptsched::preload {

bool is_driver_name(const char *name);

/* What the program shall get for such a name, looked up in @handle; @version may be NULL. */
void *resolve_name(void *handle, const char *name, const char *version);

} // namespace ptsched::preload

#endif
