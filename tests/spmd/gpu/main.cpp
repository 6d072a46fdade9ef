// SPDX-License-Identifier: MIT
/* What maps on GPUs, by itself, on the virtual GPU: it needs neither nodes nor MPI. */
#include "tests/device/rival.hpp"
#include "tests/spmd/gpu/cases.hpp"

int main(int argc, char **argv)
{
    if (argc > 1 && std::string(argv[1]) == test::rival_argument)
        return test::rival();
    test::Daemon daemon;
    if (argc > 1 && std::string(argv[1]) == test::fault_argument)
        return test::run_fault();
    std::vector<tap::Case> all;
    for (auto cases : {test::device_function_cases, test::host_function_cases, test::engine_cases,
                       test::kept_input_cases, test::kept_job_cases})
        for (tap::Case &one : cases())
            all.push_back(std::move(one));
    return tap::run(all);
}
