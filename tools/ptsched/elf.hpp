/* SPDX-License-Identifier: MIT */
/* As much of an ELF file as tells whether a preloaded library has an effect, and what it exports. */
#ifndef PTSCHED_TOOL_ELF_HPP
#define PTSCHED_TOOL_ELF_HPP

#include <set>
#include <string>

namespace ptsched {

enum class Linking {
    Dynamic, /* this tool's class and machine, with a dynamic linker */
    Musl,    /* the same, with another C library's dynamic linker */
    Static,  /* no dynamic linker: nothing can be preloaded */
    Foreign, /* another class or machine, 32-bit for example */
    Script,  /* begins with #! */
    Unknown, /* cannot be read, or something else */
};

/* For Script, @interpreter receives the path after #!. */
Linking linking_of(const std::string &path, std::string &interpreter);

/* Names that a shared library defines for others; empty if it cannot be read. */
std::set<std::string> exported_symbols(const std::string &path);

} // namespace ptsched

#endif /* PTSCHED_TOOL_ELF_HPP */
