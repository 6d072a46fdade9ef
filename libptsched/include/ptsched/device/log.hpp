/* SPDX-License-Identifier: MIT */
/* What this library, and those on top of it, have to say that is no error of a call. */
#ifndef PTSCHED_DEVICE_LOG_HPP
#define PTSCHED_DEVICE_LOG_HPP

#include <functional>
#include <string>

#pragma GCC visibility push(default)

namespace ptsched::device {

/*
 * Gets a line without its end, "LIBRARY: WHAT", for instance why a graph is not scheduled. Called by any thread, of
 * which several may come at once and some have locks of the library: it must not call that, nor block for long, nor
 * throw.
 */
using Log = std::function<void(const std::string &line)>;

/*
 * From now on lines go to @log; if it is empty, to standard error, as at first. Another thread that has begun to give
 * one to the last @log may still do so after the return. Any thread may call it.
 */
void set_log(Log log);

/* For libraries on top of this one: a line, "LIBRARY: WHAT", to where set_log() says. Any thread may call it. */
void log_line(const std::string &line) noexcept;

} // namespace ptsched::device

#pragma GCC visibility pop

#endif /* PTSCHED_DEVICE_LOG_HPP */
