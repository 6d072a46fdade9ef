// SPDX-License-Identifier: MIT
// What graphs have to do with files and other processes.
#include "world_test.hpp"

int main()
{
    using namespace test;
    Daemon daemon;
    Cases cases;
    for (Cases (*some)() : {stream_cases, remote_cases, hostile_cases})
        for (tap::Case &test : some())
            cases.push_back(std::move(test));
    return tap::run(cases);
}
