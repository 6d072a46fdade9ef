// SPDX-License-Identifier: MIT
/*
 * Arenas on the virtual GPU, where an address has one memory for the host and another for kernels; with the arguments
 * "gpu FILE" on the machine's own, FILE being what nvcc has made of kernels.cu.
 */
#include "tests/arena/cases.hpp"
#include "tests/device/rival.hpp"

namespace {

using Cases = std::vector<tap::Case> (*)();

int run(const std::vector<Cases> &all)
{
    std::vector<tap::Case> cases;
    for (const Cases some : all)
        for (tap::Case &one : some())
            cases.push_back(std::move(one));
    return tap::run(cases);
}

} // namespace

int main(int argc, char **argv)
{
    const std::vector<Cases> on_any = {test::pages_cases,     test::heap_cases, test::window_cases, test::kernel_cases,
                                       test::ownership_cases, test::sync_cases, test::c_cases};
    if (argc == 2 && std::string(argv[1]) == test::rival_argument)
        return test::rival();
    if (argc == 3 && std::string(argv[1]) == "gpu") {
        test::kernels_file = argv[2];
        return run(on_any);
    }
    setenv("PTSCHED_VGPU_OWN_ADDRESSES", "1", 1);
    test::Daemon daemon;
    test::kernels_file = test::folder() + "/arena-kernels.so";
    std::vector<Cases> all = on_any;
    all.push_back(test::turn_cases);
    return run(all);
}
