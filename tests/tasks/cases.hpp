/* SPDX-License-Identifier: MIT */
/* What the tests of tasks share. */
#ifndef TEST_TASKS_CASES_HPP
#define TEST_TASKS_CASES_HPP

#include "tests/comes_true.hpp"
#include "tests/vgpu/daemon.h"
#include "tests/vgpu/tap.h"
#include <ptsched/tasks.hpp>

#include <filesystem>

namespace test {

namespace tasks = ptsched::tasks;
namespace device = ptsched::device;

/* Of each file of this folder. */
std::vector<tap::Case> host_cases();
std::vector<tap::Case> list_cases();
std::vector<tap::Case> own_access_cases();
std::vector<tap::Case> lifetime_cases();
std::vector<tap::Case> gpu_function_cases();
std::vector<tap::Case> fault_cases(); /* of a program of its own */
std::vector<tap::Case> c_cases();
std::vector<tap::Case> seen_cases();
std::vector<tap::Case> checked_cases();
std::vector<tap::Case> random_cases();
std::vector<tap::Case> bench_cases();
std::vector<tap::Case> program_cases();

/* Of tests/vgpu/programs/kernels.cu, with up to 64 threads: of a, b, c and n. */
inline const device::Geometry one_block{{1, 1, 1}, {64, 1, 1}};
inline tasks::Kernel vector_add()
{
    return tasks::Kernel([](device::Device &gpu) { return device::cuda_code(gpu, kernels(), "vector_add"); });
}

inline std::filesystem::path this_program()
{
    return std::filesystem::canonical("/proc/self/exe");
}

} // namespace test

#endif /* TEST_TASKS_CASES_HPP */
