/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PAPER_TEST_HPP
#define PTSCHED_PAPER_TEST_HPP

#include "tap.h"

/* Of the programs of the gestural interface. */
std::vector<tap::Case> gesture_cases();

#endif /* PTSCHED_PAPER_TEST_HPP */
