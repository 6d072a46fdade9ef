// SPDX-License-Identifier: MIT
/* Arenas on the virtual GPU, where an address has one memory for the host and another for kernels. */
#include "tests/arena/cases.hpp"
#include "tests/device/rival.hpp"

namespace {

std::vector<tap::Case> all_cases()
{
    std::vector<tap::Case> all;
    for (auto cases : {test::pages_cases, test::heap_cases, test::window_cases, test::kernel_cases,
                       test::ownership_cases, test::sync_cases, test::turn_cases, test::c_cases})
        for (tap::Case &one : cases())
            all.push_back(std::move(one));
    return all;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc == 2 && std::string(argv[1]) == test::rival_argument)
        return test::rival();
    setenv("PTSCHED_VGPU_OWN_ADDRESSES", "1", 1);
    test::Daemon daemon;
    return tap::run(all_cases());
}
