// SPDX-License-Identifier: MIT
/* Jobs on cores, by one rank and several. */
#include "tests/spmd/run/cases.hpp"

int main()
{
    std::vector<tap::Case> all;

    for (auto cases : {test::job_cases, test::output_cases, test::failure_cases, test::device_cases, test::run_cases,
                       test::machine_cases, test::plan_cases})
        for (tap::Case &one : cases())
            all.push_back(std::move(one));
    return tap::run(all);
}
