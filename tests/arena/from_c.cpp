// SPDX-License-Identifier: MIT
/* What a C program has of arenas. */
#include "tests/arena/c_checks.h"
#include "tests/arena/cases.hpp"

std::vector<tap::Case> test::c_cases()
{
    return {{"a program in C", [] { CHECK_EQ(c_checks(), 0); }}};
}
