// SPDX-License-Identifier: MIT
// What graphs have to do with files and other processes.
#include "world_test.hpp"

int main()
{
    using namespace test;
    Daemon daemon;
    Cases cases = stream_cases();
    return tap::run(cases);
}
