// SPDX-License-Identifier: MIT
/* The GPUs' part of a runtime of tasks, on the virtual GPU, driven as a runtime drives it. */
#include "tests/device/rival.hpp"
#include "tests/tasks/gpu/cases.hpp"

int main(int argc, char **argv)
{
    if (argc > 1 && argv[1] == std::string(test::rival_argument))
        return test::rival();
    if (argc > 1 && argv[1] == std::string(test::fault_argument))
        return tap::run(test::fault_cases());
    test::Daemon daemon;
    std::vector<tap::Case> all;

    setenv("PTSCHED_VGPU_MEMORY", std::to_string(test::gpu_memory).c_str(), 1);
    for (auto cases : {test::order_cases, test::content_cases, test::memory_cases, test::device_cases,
                       test::ahead_cases, test::visit_cases, test::failure_cases})
        for (tap::Case &one : cases())
            all.push_back(std::move(one));
    return tap::run(all);
}
