// SPDX-License-Identifier: MIT
/* The examples and the programs of the paper, each a program of its own, on the virtual GPU. */
#include "tests/pool/cases.hpp"

#include <cstdlib>
#include <sstream>

namespace {

/* Of sanitizers, they would need their libraries. */
std::string why_not()
{
    return POOL_PROGRAMS_ARE_BUILT ? "" : "they are not built with sanitizers";
}

void run(const std::string &arguments)
{
    const std::string command =
        "LD_LIBRARY_PATH=" + test::folder() + " " + test::folder() + "/../samples/" + arguments + " >&2";
    CHECK_EQ(std::system(command.c_str()), 0);
}

void example(const std::string &name)
{
    run(name + " " + test::folder() + "/" + name + ".so");
}

} // namespace

std::vector<tap::Case> test::program_cases()
{
    std::vector<tap::Case> cases{{"an example: adaptive quadrature", [] { example("quadrature"); }, why_not()},
                                 {"an example in C: squares", [] { example("squares"); }, why_not()}};
    std::istringstream names(POOL_PROGRAMS);
    for (std::string name; names >> name;) {
        cases.push_back({"the paper's programs: " + name,
                         [name] { run("pool-" + name + " --check --module " + folder() + "/pool-" + name + ".so"); },
                         why_not()});
    }
    return cases;
}
