/* SPDX-License-Identifier: MIT */
/* The programs of the gestural interface. Each returns at the end of its frames, and throws Error. */
#ifndef PTSCHED_PAPER_COMMANDS_HPP
#define PTSCHED_PAPER_COMMANDS_HPP

#include <string>

namespace ptsched::paper {

struct GestureOptions {
    unsigned frames = 1000, width = 640, height = 480;
    bool trigger = false;
    std::string to = "-", module;
};

/* From standard input, if there is something to read, to standard output, if there is something to write. */
void catusb(const GestureOptions &options);
void xform(const GestureOptions &options);
void filter(const GestureOptions &options);
void hidinput(const GestureOptions &options);

/* All of it in this process, in one of the ways of variants() or on the host. */
void whole(const std::string &way, const GestureOptions &options);

} // namespace ptsched::paper

#endif /* PTSCHED_PAPER_COMMANDS_HPP */
