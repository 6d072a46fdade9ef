// SPDX-License-Identifier: MIT
#include "tests/pool/cases.hpp"

std::vector<tap::Case> test::error_cases()
{
    return {};
}
