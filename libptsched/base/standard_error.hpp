/* SPDX-License-Identifier: MIT */
/* Where a library in somebody else's program tells the user something. */
#ifndef PTSCHED_BASE_STANDARD_ERROR_HPP
#define PTSCHED_BASE_STANDARD_ERROR_HPP

#include <cstddef>

namespace ptsched {

/*
 * Writes the line in one go, so that those of several processes do not mix, if standard error is still the file that it
 * was when the library was loaded. A program may have closed it since, and have a file of its own under that number.
 * Leaves errno alone.
 */
void write_to_user(const char *line, std::size_t length);

} // namespace ptsched

#endif
