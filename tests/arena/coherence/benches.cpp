// SPDX-License-Identifier: MIT
/* What measures coherence, small, on the virtual GPU: whether its results are right. */
#include "tests/arena/coherence/cases.hpp"

namespace {

void check()
{
    const std::string command = "LD_LIBRARY_PATH=" + test::folder() + " " + test::folder() +
                                "/../tests/bench-arena --check --module " + test::folder() + "/bench-arena.so >&2";
    CHECK_EQ(std::system(command.c_str()), 0);
}

} // namespace

std::vector<tap::Case> test::bench_cases()
{
    /* Of sanitizers, it would need their libraries. */
    return {{"what coherence costs", check, ARENA_BENCH_IS_BUILT ? "" : "it is not built with sanitizers"}};
}
