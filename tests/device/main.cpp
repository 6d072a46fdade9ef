// SPDX-License-Identifier: MIT
// Devices and datablocks, on the virtual GPU.
#include "cases.hpp"

int main(int argc, char **)
{
    if (argc > 1)
        return tap::run(test::apart_cases());
    test::Daemon daemon;
    std::vector<tap::Case> all;

    setenv("PTSCHED_VGPU_MEMORY", std::to_string(test::gpu_memory).c_str(), 1);
    for (auto cases :
         {test::parameter_cases, test::memory_cases, test::stress_cases, test::peer_cases, test::source_cases})
        for (tap::Case &one : cases())
            all.push_back(std::move(one));
    return tap::run(all);
}
