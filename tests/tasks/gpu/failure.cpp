// SPDX-License-Identifier: MIT
/* What fails says so, once, and when what it may have given has ended. */
#include "tests/tasks/gpu/cases.hpp"

using namespace test;
using tasks::in, tasks::inout, tasks::out;

namespace {

void a_function_throws()
{
    Core core;
    Held held;
    std::vector<float> x(64, 1);
    Node &bad = core.ready({inout(x)}, [&](const tasks::Call &call) {
        held.task()(call);
        throw std::runtime_error("no such tile");
    });
    CHECK(!bad.given && !bad.ended);
    /* The kernel that it gave still runs. */
    for (unsigned i = 0; i < 100; i++)
        core.side().serve();
    CHECK(!bad.ended);
    held.end();
    core.end(bad);
    CHECK(!bad.given);
    bool is_its = false;
    try {
        std::rethrow_exception(bad.failure);
    } catch (const std::runtime_error &error) {
        is_its = error.what() == std::string("no such tile");
    }
    CHECK(is_its);
    Node &good = core.give({inout(x), inout(x)}, add_up());
    core.end(good);
    CHECK(!good.failure);
    core.finish();
    CHECK(all_are(x, 2));
}

/* The driver refuses a kernel; the device is well. */
void a_launch_is_refused()
{
    Core core;
    Node &bad = core.give({}, [](const tasks::Call &call) {
        static const auto code = device::cuda_code(*call.owner, kernels(), "count");
        call.queue->run(*code, {{1, 1, 1}, {100000, 1, 1}}, {});
    });
    core.end(bad);
    CHECK(!bad.given && bad.failure);
    Node &good = core.give({}, nothing);
    core.end(good);
    CHECK(!good.failure);
}

void a_kernel_is_at_fault()
{
    const std::string command =
        "unset PTSCHED_CASE; \"$(readlink /proc/$PPID/exe)\" " + std::string(fault_argument) + " >/dev/null";
    CHECK(std::system(command.c_str()) == 0);
}

/* All that was in flight fails, and what comes; nobody waits for ever. */
void all_fail_by_a_fault()
{
    Daemon daemon;
    Core core;
    std::vector<float> x(64, 1), y(64, 1);
    Node &before = core.give({inout(y), inout(y)}, add_up());
    core.end(before);
    int numbers[64];
    std::fill(std::begin(numbers), std::end(numbers), -1);
    Node &bad = core.give({inout(numbers, std::size(numbers))}, [](const tasks::Call &call) {
        static const auto code = device::cuda_code(*call.owner, folder() + "/ptask-kernels.so", "successor_of_natural");
        void *x = call.places[0].address;
        call.queue->run(*code, {{1, 1, 1}, {64, 1, 1}}, {&x});
    });
    core.end(bad);
    CHECK(!before.failure);
    bool is_fault = false;
    try {
        if (bad.failure)
            std::rethrow_exception(bad.failure);
    } catch (const device::Fault &) {
        is_fault = true;
    }
    CHECK(is_fault);
    Node &after = core.give({inout(x), inout(x)}, add_up());
    core.end(after);
    CHECK(after.failure);
    CHECK(!core.side().is_busy());
    bool is_told = false;
    try {
        core.until([&] { return core.side().bring_home(nullptr); });
    } catch (const device::Fault &) {
        is_told = true;
    }
    CHECK(is_told);
    std::fflush(stdout);
    _exit(tap::failed_here ? 1 : 0);
}

} // namespace

std::vector<tap::Case> test::failure_cases()
{
    return {{"a function throws", a_function_throws},
            {"a launch is refused", a_launch_is_refused},
            {"a kernel is at fault", a_kernel_is_at_fault}};
}

std::vector<tap::Case> test::fault_cases()
{
    return {{"a kernel at fault fails all that is in flight", all_fail_by_a_fault}};
}
