// SPDX-License-Identifier: MIT
/* Functions that give a GPU work, and what fails there, beside tasks of the host. */
#include "tests/tasks/cases.hpp"
#include "tests/vgpu/refused.h"

#include <atomic>
#include <cstdlib>
#include <optional>
#include <thread>
#include <unistd.h>

using namespace test;
using namespace ptsched::tasks;

namespace {

constexpr unsigned elements = 64;

/* Who comes next on the GPU waits for it, too. */
void a_hold_of_a_gpu()
{
    Runtime tasks({.workers = 2});
    std::vector<float> x(elements, 1);
    std::optional<Hold> hold;
    std::atomic<bool> is_held{false}, is_dropped{false};
    bool came_after = false;
    tasks.cuda(
        [&](Gpu &, float *) {
            hold.emplace();
            is_held = true;
        },
        inout(x));
    tasks.cuda([&](Gpu &, float *) { came_after = is_dropped; }, inout(x));
    CHECK(comes_true([&] { return is_held.load(); }));
    CHECK(!tasks.wait_for(std::chrono::milliseconds(20)));
    is_dropped = true;
    hold.reset();
    tasks.wait();
    CHECK(came_after);
}

void tasks_are_made_elsewhere()
{
    Runtime tasks({.workers = 2});
    std::vector<float> x(elements, 1);
    bool ran = false;
    tasks.cuda(
        {"gives"}, [&](Gpu &, float *) { tasks.host({"inner"}, [&] { ran = true; }); }, inout(x));
    CHECK(refused([&] { tasks.wait(); }, {"(gives) gives a GPU work, and cannot make tasks, as inner"}));
    CHECK(!ran);
}

/* A program of its own, since the driver refuses it everything after that. */
void a_fault_before_results_come_home()
{
    CHECK_EQ(std::system(("unset PTSCHED_CASE; " + this_program().string() + " fault > /dev/null").c_str()), 0);
}

/* What a task of the host needs is on the GPU when that is lost: it fails, and nobody waits for ever. */
void a_task_that_needs_what_is_lost()
{
    Daemon daemon;
    Runtime tasks({.workers = 2, .devices = {device::gpus().at(0)}});
    const Kernel add = vector_add();
    const Kernel bad([](device::Device &gpu) {
        return device::cuda_code(gpu, folder() + "/ptask-kernels.so", "successor_of_natural");
    });
    std::vector<float> x(elements, 1);
    std::vector<int> numbers(elements, -1);
    std::atomic<bool> go{false};
    bool ran = false;
    int gate = 0;
    tasks.kernel({"double"}, add, one_block, inout(x), in(x), inout(x), elements);
    tasks.host([&](int *) { CHECK(comes_true([&] { return go.load(); })); }, inout(gate));
    tasks.host(
        {"needs"}, [&](const float *, const int *) { ran = true; }, in(x), in(gate));
    tasks.kernel({"bad"}, bad, one_block, inout(numbers));
    CHECK(comes_true([&] { return tasks.state().live == 2; }));
    go = true;
    CHECK(comes_true([&] { return tasks.state().live == 0; }));
    bool has_failed = false;
    try {
        tasks.wait();
    } catch (const std::exception &) {
        has_failed = true;
    }
    CHECK(has_failed && !ran);
    std::fflush(stdout);
    _exit(tap::failed_here ? 1 : 0);
}

} // namespace

std::vector<tap::Case> test::gpu_function_cases()
{
    return {{"a hold of a function that gives work", a_hold_of_a_gpu},
            {"a function that gives work makes no tasks", tasks_are_made_elsewhere},
            {"a task of the host needs what a fault has taken", a_fault_before_results_come_home}};
}

std::vector<tap::Case> test::fault_cases()
{
    return {{"a task that needs what is lost fails", a_task_that_needs_what_is_lost}};
}
