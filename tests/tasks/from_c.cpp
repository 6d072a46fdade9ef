// SPDX-License-Identifier: MIT
/* What a C program has of tasks. */
#include "tests/tasks/c_checks.h"
#include "tests/tasks/cases.hpp"

std::vector<tap::Case> test::c_cases()
{
    return {{"a program in C", [] { CHECK_EQ(c_checks(), 0); }}};
}
