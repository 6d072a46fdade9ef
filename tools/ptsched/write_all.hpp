/* SPDX-License-Identifier: MIT */
/* Writing to who may not read: a stop signal ends it. */
#ifndef PTSCHED_TOOL_WRITE_ALL_HPP
#define PTSCHED_TOOL_WRITE_ALL_HPP

#include <string_view>

namespace ptsched {

/*
 * Blocks until all is written, or until @stop, a descriptor, is readable while nobody reads. Returns 0 or an errno,
 * ECANCELED in the second case.
 */
int write_all(int fd, std::string_view text, int stop);

} // namespace ptsched

#endif /* PTSCHED_TOOL_WRITE_ALL_HPP */
