/* SPDX-License-Identifier: MIT */
/* What the tests of tasks share. */
#ifndef TEST_TASKS_CASES_HPP
#define TEST_TASKS_CASES_HPP

#include "tests/vgpu/daemon.h"
#include "tests/vgpu/tap.h"
#include <ptsched/tasks.hpp>

namespace test {

namespace tasks = ptsched::tasks;
namespace device = ptsched::device;

/* Of each file of this folder. */
std::vector<tap::Case> host_cases();
std::vector<tap::Case> c_cases();
std::vector<tap::Case> seen_cases();
std::vector<tap::Case> random_cases();
std::vector<tap::Case> bench_cases();
std::vector<tap::Case> program_cases();

} // namespace test

#endif /* TEST_TASKS_CASES_HPP */
