// SPDX-License-Identifier: MIT
/* What a C program has of calls. */
#include "tests/arena/call/c_checks.h"
#include "tests/arena/call/cases.hpp"

using namespace test;

namespace {

void c_program()
{
    const Common<unsigned long long> word(1);
    CHECK_EQ(c_checks((folder() + "/arena-call.so").c_str(), word.get()), 0);
}

} // namespace

std::vector<tap::Case> test::c_cases()
{
    return {{"calls from C", c_program}};
}
