/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_BASE_START_PATH_HPP
#define PTSCHED_BASE_START_PATH_HPP

#include <string>

namespace ptsched {

/*
 * What @path meant in the folder where the program was started: a program may go to another before it needs the
 * scheduler. Absolute, unless that folder cannot be named.
 */
std::string start_path(const char *path);

} // namespace ptsched

#endif
