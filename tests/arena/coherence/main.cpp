// SPDX-License-Identifier: MIT
/* The coherence of arenas, on memory that stands for a GPU's, and on the virtual GPU. */
#include "tests/arena/coherence/cases.hpp"

int main()
{
    test::Daemon daemon;
    std::vector<tap::Case> all;

    for (auto cases :
         {test::page_set_cases, test::directory_cases, test::fault_cases, test::shared_cases, test::owned_cases,
          test::arrival_cases, test::checked_cases, test::kernel_cases, test::random_cases, test::bench_cases})
        for (tap::Case &one : cases())
            all.push_back(std::move(one));
    return tap::run(all);
}
