// SPDX-License-Identifier: MIT
/* The benchmark, on the virtual GPU. */
#include "tests/arena/call/cases.hpp"

#include <cstdlib>

namespace {

void benchmark()
{
    const std::string command = "LD_LIBRARY_PATH=" + test::folder() + " " + test::folder() +
                                "/../samples/arena-calls --check --module " + test::folder() + "/arena-calls.so >&2";
    CHECK_EQ(std::system(command.c_str()), 0);
}

} // namespace

std::vector<tap::Case> test::program_cases()
{
    return {
        {"the program that measures calls", benchmark, ARENA_CALLS_IS_BUILT ? "" : "it is not built with sanitizers"}};
}
