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
std::vector<tap::Case> content_cases();
std::vector<tap::Case> stress_cases();
std::vector<tap::Case> peer_cases();
std::vector<tap::Case> source_cases();
std::vector<tap::Case> opencl_cases();
/* For a process whose GPUs do not reach each other. */
std::vector<tap::Case> apart_cases();

/* Of each virtual GPU, in bytes: its driver refuses more. */
constexpr std::size_t gpu_memory = 1 << 20;

} // namespace test

#endif /* TEST_DEVICE_CASES_HPP */
