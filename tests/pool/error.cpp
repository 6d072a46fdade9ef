// SPDX-License-Identifier: MIT
/* What cannot be is refused, and what fails is named. */
#include "libptsched/device/cuda.hpp"
#include "tests/pool/waiting.hpp"
#include <ptsched/device/log.hpp>

#include <mutex>
#include <thread>

using namespace test;
using namespace std::chrono_literals;

namespace {

template <typename Change> bool options_refused(Change change, const std::vector<std::string> &words)
{
    auto options = options_for("squares");
    change(options);
    return refused([&] { Squares squares(options); }, words);
}

void options_that_cannot_be()
{
    using Options = pool::Options;
    CHECK(options_refused([](Options &o) { o.threads = 48; }, {"threads is 48", "multiple of 32", "64"}));
    CHECK(options_refused([](Options &o) { o.threads = 2048; }, {"threads is 2048", "32 to 1024"}));
    CHECK(options_refused([](Options &o) { o.depth = 3; }, {"depth is 3", "power of two", "2"}));
    CHECK(options_refused([](Options &o) { o.depth = 128; }, {"depth is 128", "1 to 64"}));
    CHECK(options_refused([](Options &o) { o.blocks = 100000; }, {"blocks is 100000", "at most"}));
    CHECK(options_refused([](Options &o) { o.outputs = 0; }, {"outputs is 0"}));
    CHECK(options_refused([](Options &o) { o.priorities = 17; }, {"priorities is 17", "1 to 16"}));
    CHECK(options_refused([](Options &o) { o.capacity = 0; }, {"capacity is 0"}));
    CHECK(options_refused([](Options &o) { o.kernel = nullptr; }, {"no kernel"}));
    CHECK(options_refused(
        [](Options &o) {
            o.kernel = [](device::Device &gpu) { return device::cuda_code(gpu, kernels(), "vector_add"); };
        },
        {"other parameters", "Slots"}));
}

/* What throws on the host is nested in what everybody is told. */
void failed_on_the_host()
{
    auto options = options_for("squares");
    options.host_threads = 1;
    Squares squares(options);
    squares.on_host<Square>([](Square &) { throw std::runtime_error("no luck"); });
    squares.push(Square{1, 0, 0}, {.where = pool::Where::host});
    CHECK(refused([&] { squares.pop(); }, {"task 1 of output 0", "kind 0", "on the host", "no luck"}));
    CHECK(refused([&] { squares.push(Square{1, 0, 0}); }, {"no luck"}));
    CHECK(refused([&] { squares.wait(); }, {"no luck"}));
    try {
        squares.wait();
    } catch (const std::exception &error) {
        CHECK(dynamic_cast<const std::nested_exception *>(&error));
    }
}

void faulty_task()
{
    Mixed pool(options_for("mixed"));
    pool.push(Square{1, 0, 0});
    CHECK(pool.pop());
    pool.push(Trap{});
    CHECK(refused([&] { pool.pop(); }, {"a device has failed", "task 2 of output 0", "kind 4", "block"}));
    CHECK(refused([&] { pool.push(Square{1, 0, 0}); }, {"task 2 of output 0"}));
}

/* In a process of its own, since the driver refuses it everything from then on. */
void failed_on_the_device()
{
    for (const char *argument : {fault_argument, c_fault_argument, graph_fault_argument}) {
        const std::string command =
            std::string("unset PTSCHED_CASE; \"$(readlink /proc/$PPID/exe)\" ") + argument + " >&2";
        CHECK_EQ(std::system(command.c_str()), 0);
    }
}

/* A kernel whose end nobody could wait for leaves, and the pool says why. */
void no_event_for_the_end()
{
    static device::Driver driver = *device::Driver::get();
    driver.event_create = [](CUevent *, unsigned) { return CUDA_ERROR_OUT_OF_MEMORY; };
    /* For good, as all devices are. */
    static device::Device &bad = *new device::CudaDevice(driver, 0);
    auto options = options_for("squares");
    options.devices = {&bad};
    const auto pushes = [&] {
        Squares squares(options);
        squares.push(Square{1, 0, 0});
        squares.wait();
    };
    CHECK(refused(pushes, {"cuEventCreate", "OUT_OF_MEMORY"}));
    bad.trim(0);
}

/* A task that does not end is waited for as long as was said, and named. */
void never_ends()
{
    static std::mutex mutex;
    static std::string said;
    device::set_log([](const std::string &line) {
        std::lock_guard lock(mutex);
        said += line + "\n";
    });
    Waiting waiting;
    {
        auto options = options_for("mixed");
        options.patience = 10ms;
        Mixed pool(options);
        pool.push(waiting.task());
        CHECK(!pool.pop_for(1ms));
        CHECK(!pool.wait_for(1ms));
        CHECK_EQ(pool.unfinished(), std::size_t{1});
        waiting.wait_until_begun();
    }
    device::set_log({});
    std::lock_guard lock(mutex);
    for (const char *words : {"does not end", "task 1 of output 0", "of kind 2", "in block"})
        CHECK(said.find(words) != std::string::npos);
}

} // namespace

std::vector<tap::Case> test::fault_cases()
{
    return {{"a faulty task names itself", faulty_task}};
}

std::vector<tap::Case> test::error_cases()
{
    return {{"options that cannot be", options_that_cannot_be},
            {"a task that fails on the host", failed_on_the_host},
            {"a task that fails on the device", failed_on_the_device},
            {"a kernel that cannot be marked", no_event_for_the_end},
            {"a task that never ends", never_ends}};
}
