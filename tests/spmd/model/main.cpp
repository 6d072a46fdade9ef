// SPDX-License-Identifier: MIT
/* The model and the schedulers of spmd. RC_PARAMS="max_success=10000" has more random cases. */
#include "tests/spmd/model/cases.hpp"

int main()
{
    std::vector<tap::Case> all;

    for (auto cases : {test::model_cases, test::block_cases, test::pool_cases, test::part_cases, test::split_cases,
                       test::master_cases, test::simulate_cases})
        for (tap::Case &one : cases())
            all.push_back(std::move(one));
    return tap::run(all);
}
