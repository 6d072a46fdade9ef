/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_ARENA_CALL_LOG_LINE_HPP
#define PTSCHED_ARENA_CALL_LOG_LINE_HPP

#include <ptsched/arena/call/slots.h>

#include <string>

namespace ptsched::arena::detail {

/*
 * As printf would. A conversion that does not fit its value, or has none, is left out, and "(?)" stands for it: what a
 * kernel says may be anything.
 */
std::string format(const LogLine &line);

} // namespace ptsched::arena::detail

#endif /* PTSCHED_ARENA_CALL_LOG_LINE_HPP */
