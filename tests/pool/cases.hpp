/* SPDX-License-Identifier: MIT */
/* What the tests of pools share. */
#ifndef TEST_POOL_CASES_HPP
#define TEST_POOL_CASES_HPP

#include "tests/pool/tasks.h"
#include "tests/vgpu/daemon.h"
#include "tests/vgpu/refused.h"
#include "tests/vgpu/tap.h"
#include <ptsched/pool.hpp>

namespace test {

namespace pool = ptsched::pool;
namespace device = ptsched::device;

/* Of each file of this folder. */
std::vector<tap::Case> basic_cases();
std::vector<tap::Case> place_cases();
std::vector<tap::Case> guest_cases();
std::vector<tap::Case> error_cases();
std::vector<tap::Case> program_cases();
std::vector<tap::Case> c_cases();
std::vector<tap::Case> graph_cases();
std::vector<tap::Case> receipt_cases();
/* For a process of its own, whose first argument is that. */
inline constexpr char fault_argument[] = "fault", c_fault_argument[] = "fault-of-c",
                      graph_fault_argument[] = "fault-of-a-graph";
std::vector<tap::Case> fault_cases();
std::vector<tap::Case> c_fault_cases();
std::vector<tap::Case> graph_fault_cases();

using Squares = pool::Pool<Square>;
using Mixed = pool::Pool<Square, Reverse, Wait, Add, Trap>;

/* On the first GPU, with few blocks: they share the processors of this machine. */
inline pool::Options options_for(const char *kernel)
{
    pool::Options options;
    options.kernel = [kernel](device::Device &gpu) {
        return device::cuda_code(gpu, folder() + "/pool-kernels.so", kernel);
    };
    options.devices = {device::gpus().at(0)};
    options.threads = 32;
    options.blocks = 4;
    return options;
}

/* With a place for one task, and no other. */
inline pool::Options one_slot()
{
    pool::Options options = options_for("mixed");
    options.blocks = options.depth = 1;
    return options;
}

} // namespace test

#endif /* TEST_POOL_CASES_HPP */
