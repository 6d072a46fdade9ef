// SPDX-License-Identifier: MIT
/* What measures tasks, small, on the virtual GPU: whether its results are right. */
#include "tests/tasks/cases.hpp"

namespace {

/* Of sanitizers, they would need their libraries. */
std::string why_not()
{
    return TASKS_BENCHES_ARE_BUILT ? "" : "they are not built with sanitizers";
}

void check(const std::string &program, const std::string &module)
{
    const std::string command = "LD_LIBRARY_PATH=" + test::folder() + " " + test::folder() + "/../" + program +
                                " --check --module " + test::folder() + "/" + module + " >&2";
    CHECK_EQ(std::system(command.c_str()), 0);
}

} // namespace

std::vector<tap::Case> test::bench_cases()
{
    return {{"Task Bench's patterns", [] { check("samples/tasks-taskbench", "tasks-taskbench.so"); }, why_not()},
            {"what tasks cost", [] { check("tests/bench-tasks", "bench-tasks.so"); }, why_not()}};
}
