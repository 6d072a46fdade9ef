// SPDX-License-Identifier: MIT
/* The programs of the paper, by hand and by tasks, each a program of its own, on the virtual GPU: their results. */
#include "tests/tasks/cases.hpp"

#include <cstdlib>
#include <sstream>

namespace {

/* Of sanitizers, they would need their libraries. */
std::string why_not()
{
    return TASKS_PROGRAMS_ARE_BUILT ? "" : "they are not built with sanitizers";
}

/* Without cuBLAS, which may be there, but not for this GPU. */
void check(const std::string &program)
{
    const std::string command = "LD_LIBRARY_PATH=" + test::folder() + " " + test::folder() + "/../samples/tasks-" +
                                program + " --check --hand '' --module " + test::folder() + "/tasks-" + program +
                                ".so >&2";
    CHECK_EQ(std::system(command.c_str()), 0);
}

} // namespace

std::vector<tap::Case> test::program_cases()
{
    std::vector<tap::Case> cases;
    std::istringstream names(TASKS_PROGRAMS);
    for (std::string name; names >> name;)
        cases.push_back({"the paper's programs: " + name, [name] { check(name); }, why_not()});
    return cases;
}
