// SPDX-License-Identifier: MIT
/* What graphs have to do with files and other processes. */
#include "tests/ptask/world/world_test.hpp"

int main(int argc, char **argv)
{
    using namespace test;
    if (argc == 4)
        return loan_role(argv[1], argv[2], std::atoi(argv[3]));
    if (argc == 3)
        return remote_role(argv[1], argv[2]);
    if (argc == 2)
        return fault_role(argv[1]);
    Daemon daemon;
    Cases cases;
    for (Cases (*some)() : {stream_cases, remote_cases, hostile_cases, loan_cases, fault_cases})
        for (tap::Case &test : some())
            cases.push_back(std::move(test));
    return tap::run(cases);
}
