// SPDX-License-Identifier: MIT
/* What a C program has of pools. */
#include "tests/pool/c_checks.h"
#include "tests/pool/cases.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace test;

namespace {

std::string modules()
{
    return folder() + "/pool-kernels.so";
}

/* Of a header. */
std::string content_of(const char *name)
{
    std::ifstream file(std::filesystem::path(POOL_INCLUDE) / name);
    CHECK(file);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/* Its kernel as text needs the headers for kernels as text, too. */
void c_program()
{
    setenv("PTSCHED_NVRTC", (folder() + "/nvrtc.so").c_str(), 1);
    const char *const names[] = {"ptsched/pool.cuh", "ptsched/pool/slots.h"};
    const std::string cuh = content_of(names[0]), slots = content_of(names[1]);
    const char *const texts[] = {cuh.c_str(), slots.c_str()};
    constexpr char source[] = R"(
#include <ptsched/pool.cuh>
struct Square { double value, result; unsigned long long id; };
__device__ void square(Square &task, const ptsched::pool::Block &)
{
    if (threadIdx.x == 0)
        task.result = task.value * task.value;
}
extern "C" __global__ void squares(ptsched::pool::Slots slots)
{
    ptsched::pool::serve<square>(slots);
})";
    CHECK_EQ(c_checks(modules().c_str(), source, names, texts, 2), 0);
}

void c_program_at_fault()
{
    CHECK_EQ(c_fault_checks(modules().c_str()), 0);
}

} // namespace

std::vector<tap::Case> test::c_cases()
{
    return {{"a C program", c_program}};
}

std::vector<tap::Case> test::c_fault_cases()
{
    return {{"a C program whose task is at fault", c_program_at_fault}};
}
