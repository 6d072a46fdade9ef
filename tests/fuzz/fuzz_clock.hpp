/* SPDX-License-Identifier: MIT */
/*
 * Time of a fuzz target, in place of libptsched/base/time_calls.cpp: it passes only where somebody waits with a limit,
 * or the target lets it.
 */
#ifndef PTSCHED_TEST_FUZZ_CLOCK_HPP
#define PTSCHED_TEST_FUZZ_CLOCK_HPP

#include <cstdint>

namespace fuzz_clock {

void reset();
std::uint64_t now_ns();

/* What is asked to wait waits only until then: what is due later has its time later. */
void set_limit(std::uint64_t until_ns);
/* Whether the last wait ended because of an event, and not because of its limit or that of the clock. */
bool had_event();

} // namespace fuzz_clock

#endif
