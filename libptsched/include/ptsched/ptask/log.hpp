/* SPDX-License-Identifier: MIT */
/* What libptask has to say that is no error of a call. */
#ifndef PTSCHED_PTASK_LOG_HPP
#define PTSCHED_PTASK_LOG_HPP

#include <functional>
#include <string>

#pragma GCC visibility push(default)

namespace ptsched::ptask {

/*
 * Gets a line without its end, for instance why a graph is not scheduled. Called by any thread, of which several may
 * come at once and some have locks of the library: it must not call that, nor block for long, nor throw.
 */
using Log = std::function<void(const std::string &line)>;

/*
 * From now on lines go to @log; if it is empty, to standard error, as at first. Another thread that has begun to give
 * one to the last @log may still do so after the return. Any thread may call it.
 */
void set_log(Log log);

} // namespace ptsched::ptask

#pragma GCC visibility pop

#endif /* PTSCHED_PTASK_LOG_HPP */
