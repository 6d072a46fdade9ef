// SPDX-License-Identifier: MIT
/* Devices and datablocks, on the virtual GPU. */
#include "tests/device/cases.hpp"
#include "tests/device/rival.hpp"
#include "tests/vgpu/pocl.h"

namespace {

/* Of other machines, by the name that pass_elsewhere() gives. */
std::vector<tap::Case> cases_of(const std::string &which)
{
    if (which == "apart")
        return test::apart_cases();
    return which == "unmapped" ? test::unmapped_cases() : test::host_cases();
}

} // namespace

int main(int argc, char **argv)
{
    if (argc > 1 && argv[1] == std::string(test::rival_argument))
        return test::rival();
    if (argc > 1)
        return tap::run(cases_of(argv[1]));
    test::Daemon daemon;
    test::PoclCache cache;
    std::vector<tap::Case> all;

    setenv("PTSCHED_VGPU_MEMORY", std::to_string(test::gpu_memory).c_str(), 1);
    for (auto cases :
         {test::parameter_cases, test::driver_cases, test::memory_cases, test::pool_cases, test::space_cases,
          test::completion_cases, test::queue_cases, test::parallel_cases, test::slice_cases, test::home_cases,
          test::rate_cases, test::turn_cases, test::presence_cases, test::content_cases, test::stress_cases,
          test::peer_cases, test::source_cases, test::opencl_cases})
        for (tap::Case &one : cases())
            all.push_back(std::move(one));
    return tap::run(all);
}
