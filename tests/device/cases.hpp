/* SPDX-License-Identifier: MIT */
/* What the tests of devices share. */
#ifndef TEST_DEVICE_CASES_HPP
#define TEST_DEVICE_CASES_HPP

#include "tests/vgpu/daemon.h"
#include "tests/vgpu/refused.h"
#include "tests/vgpu/tap.h"
#include <ptsched/device/device.hpp>

#include <string>
#include <vector>

namespace test {

/* Of each file of this folder. */
std::vector<tap::Case> parameter_cases();
std::vector<tap::Case> driver_cases();
std::vector<tap::Case> memory_cases();
std::vector<tap::Case> pool_cases();
std::vector<tap::Case> space_cases();
std::vector<tap::Case> completion_cases();
std::vector<tap::Case> queue_cases();
std::vector<tap::Case> parallel_cases();
std::vector<tap::Case> slice_cases();
std::vector<tap::Case> home_cases();
std::vector<tap::Case> rate_cases();
std::vector<tap::Case> turn_cases();
std::vector<tap::Case> presence_cases();
std::vector<tap::Case> content_cases();
std::vector<tap::Case> stress_cases();
std::vector<tap::Case> peer_cases();
std::vector<tap::Case> source_cases();
std::vector<tap::Case> opencl_cases();
/* For processes of other machines: whose GPUs do not reach each other, that have no mapped memory, or no GPU. */
std::vector<tap::Case> apart_cases();
std::vector<tap::Case> unmapped_cases();
std::vector<tap::Case> host_cases();

/* Runs such cases on such a machine; @settings are the shell's. Whether all pass. */
inline bool pass_elsewhere(const std::string &settings, const std::string &which)
{
    const std::string command =
        "unset PTSCHED_CASE; " + settings + " \"$(readlink /proc/$PPID/exe)\" " + which + " >&2";
    return std::system(command.c_str()) == 0;
}

/* Of each virtual GPU, in bytes: its driver refuses more. */
constexpr std::size_t gpu_memory = 1 << 20;

} // namespace test

#endif /* TEST_DEVICE_CASES_HPP */
