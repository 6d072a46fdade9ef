// SPDX-License-Identifier: MIT
/* Pools of tasks for kernels that stay, on the virtual GPU. */
#include "tests/device/rival.hpp"
#include "tests/pool/cases.hpp"

int main(int argc, char **argv)
{
    if (argc > 1 && argv[1] == std::string(test::rival_argument))
        return test::rival();
    struct {
        const char *argument;
        std::vector<tap::Case> (*cases)();
    } const apart[] = {{test::fault_argument, test::fault_cases},
                       {test::c_fault_argument, test::c_fault_cases},
                       {test::graph_fault_argument, test::graph_fault_cases}};
    for (const auto &[argument, cases] : apart)
        if (argc > 1 && argv[1] == std::string(argument))
            return tap::run(cases());
    test::Daemon daemon;
    std::vector<tap::Case> all;

    for (auto cases : {test::basic_cases, test::receipt_cases, test::place_cases, test::guest_cases, test::error_cases,
                       test::c_cases, test::graph_cases, test::program_cases})
        for (tap::Case &one : cases())
            all.push_back(std::move(one));
    return tap::run(all);
}
