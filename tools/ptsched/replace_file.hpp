/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_TOOL_REPLACE_FILE_HPP
#define PTSCHED_TOOL_REPLACE_FILE_HPP

#include <string>

namespace ptsched {

/* Who reads @path meanwhile finds the old content or the new, whole. Throws Error. */
void replace_file(const std::string &path, const std::string &content);

} // namespace ptsched

#endif /* PTSCHED_TOOL_REPLACE_FILE_HPP */
