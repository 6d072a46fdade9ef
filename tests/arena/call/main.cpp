// SPDX-License-Identifier: MIT
/* Functions called across, on the virtual GPU. */
#include "tests/arena/call/cases.hpp"
#include "tests/device/rival.hpp"

int main(int argc, char **argv)
{
    if (argc > 1 && argv[1] == std::string(test::rival_argument))
        return test::rival();
    if (argc > 1 && argv[1] == std::string(test::fault_argument))
        return tap::run(test::fault_cases());
    test::Daemon daemon;
    std::vector<tap::Case> all;

    /* A GPU's memory is not the host's, whatever the address. */
    setenv("PTSCHED_VGPU_OWN_ADDRESSES", "1", 1);
    for (auto cases : {test::basic_cases, test::host_cases, test::window_cases, test::error_cases, test::turn_cases,
                       test::c_cases, test::program_cases})
        for (tap::Case &one : cases())
            all.push_back(std::move(one));
    return tap::run(all);
}
