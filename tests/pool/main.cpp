// SPDX-License-Identifier: MIT
/* Pools of tasks for kernels that stay, on the virtual GPU. */
#include "tests/device/rival.hpp"
#include "tests/pool/cases.hpp"

int main(int argc, char **argv)
{
    if (argc > 1 && argv[1] == std::string(test::rival_argument))
        return test::rival();
    if (argc > 1 && argv[1] == std::string(test::fault_argument))
        return tap::run(test::fault_cases());
    if (argc > 1 && argv[1] == std::string(test::c_fault_argument))
        return tap::run(test::c_fault_cases());
    test::Daemon daemon;
    std::vector<tap::Case> all;

    for (auto cases : {test::basic_cases, test::place_cases, test::guest_cases, test::error_cases, test::c_cases,
                       test::program_cases})
        for (tap::Case &one : cases())
            all.push_back(std::move(one));
    return tap::run(all);
}
