// SPDX-License-Identifier: MIT
/* The programs of samples/spmd, by hand and by the library, on the virtual GPU: their results. */
#include "tests/vgpu/daemon.h"
#include "tests/vgpu/tap.h"

#include <sstream>

namespace {

/* Of sanitizers, they would need their libraries. */
std::string why_not()
{
    return SPMD_PROGRAMS_ARE_BUILT ? "" : "they are not built: with sanitizers, or without MPI";
}

/* Without cuBLAS, which may be there, but not for this GPU; of one rank, and without mpirun. */
void check(const std::string &program)
{
    const std::string command =
        "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 LD_LIBRARY_PATH=" + test::folder() +
        " timeout 100 " + test::folder() + "/../samples/spmd-" + program + " --check --hand '' --module " +
        test::folder() + "/spmd-" + program + ".so >&2";
    CHECK_EQ(std::system(command.c_str()), 0);
}

} // namespace

int main()
{
    test::Daemon daemon;
    std::vector<tap::Case> cases;
    std::istringstream names(SPMD_PROGRAMS);
    for (std::string name; names >> name;)
        cases.push_back({"the programs of map and reduce: " + name, [name] { check(name); }, why_not()});
    return tap::run(cases);
}
