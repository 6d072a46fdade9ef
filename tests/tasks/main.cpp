// SPDX-License-Identifier: MIT
/* Tasks that say what they read and write, on the host and on the virtual GPU. */
#include "tests/tasks/cases.hpp"

int main(int count, char **)
{
    if (count > 1)
        return tap::run(test::fault_cases());
    test::Daemon daemon;
    std::vector<tap::Case> all;

    for (auto cases : {test::host_cases, test::list_cases, test::own_access_cases, test::lifetime_cases,
                       test::gpu_function_cases, test::c_cases, test::seen_cases, test::checked_cases,
                       test::random_cases, test::bench_cases, test::program_cases})
        for (tap::Case &one : cases())
            all.push_back(std::move(one));
    return tap::run(all);
}
