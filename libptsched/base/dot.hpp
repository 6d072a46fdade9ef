/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_BASE_DOT_HPP
#define PTSCHED_BASE_DOT_HPP

#include <string>

namespace ptsched {

/* For Graphviz: with a backslash before each of @special. */
inline std::string dot_escaped(const std::string &text, const char *special)
{
    std::string out;
    for (char c : text) {
        if (std::string(special).find(c) != std::string::npos)
            out += '\\';
        out += c;
    }
    return out;
}

/* The same with quotes around it. */
inline std::string dot_quoted(const std::string &text)
{
    return '"' + dot_escaped(text, "\"\\") + '"';
}

} // namespace ptsched

#endif /* PTSCHED_BASE_DOT_HPP */
