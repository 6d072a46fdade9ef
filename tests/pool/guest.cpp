// SPDX-License-Identifier: MIT
#include "tests/pool/cases.hpp"

std::vector<tap::Case> test::guest_cases()
{
    return {};
}
