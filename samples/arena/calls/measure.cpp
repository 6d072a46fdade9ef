// SPDX-License-Identifier: MIT
#include "samples/arena/calls/measure.hpp"

#include <ptsched/device/allocation.hpp>

#include <atomic>
#include <chrono>
#include <thread>

namespace ptsched::arena::bench {

namespace {

using Clock = std::chrono::steady_clock;
using samples::percentile;

unsigned next(unsigned value)
{
    return value + 1;
}
PTSCHED_ARENA_HOST_FUNCTION(next);

double microseconds_since(Clock::time_point begin)
{
    return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

CallOptions options_for(device::Device &gpu, const Settings &settings, unsigned threads, unsigned blocks)
{
    CallOptions options;
    options.kernel = [module = settings.module](device::Device &one, const std::string &name) {
        return device::cuda_code(one, module, name);
    };
    options.devices = {&gpu};
    options.threads = threads;
    options.blocks = blocks;
    options.idle = std::chrono::milliseconds(500);
    return options;
}

/* Of each call, after a few. */
template <typename Function> std::vector<double> times_of(unsigned count, Function function)
{
    std::vector<double> found;
    for (unsigned i = 0; i < count / 10 + 3; i++)
        function();
    for (unsigned i = 0; i < count; i++) {
        const auto begin = Clock::now();
        function();
        found.push_back(microseconds_since(begin));
    }
    return found;
}

void record(Report &report, const std::string &name, const std::vector<double> &times, const std::string &note)
{
    report.record(name + "_us", percentile(times, 0.5), "us", "median; " + note);
    report.record(name + "-p99_us", percentile(times, 0.99), "us");
}

[[noreturn]] void lost(std::uint64_t there, std::uint64_t wanted)
{
    throw Error(std::to_string(wanted) + " calls were made, and " + std::to_string(there) + " have come back rightly");
}

/* Each thread has some calls under way. */
double call_by_many(Calls &calls, unsigned threads, unsigned each)
{
    constexpr unsigned under_way = 8;
    const auto add = calls.function<int(int, int)>("add");
    std::atomic<std::uint64_t> right{0};
    const auto begin = Clock::now();
    {
        std::vector<std::jthread> all;
        for (unsigned t = 0; t < threads; t++)
            all.emplace_back([&, t] {
                std::vector<Call<int>> begun(under_way);
                std::uint64_t mine = 0;
                for (unsigned i = 0; i < each + under_way; i++) {
                    Call<int> &call = begun[i % under_way];
                    if (call.is_valid())
                        mine += call.get() == static_cast<int>(t + i - under_way);
                    if (i < each)
                        call = add.start(static_cast<int>(t), static_cast<int>(i));
                }
                right += mine;
            });
    }
    const double seconds = microseconds_since(begin) / 1e6;
    if (right != std::uint64_t{threads} * each)
        lost(right, std::uint64_t{threads} * each);
    return threads * each / seconds;
}

/* All threads of all blocks. */
double call_back_by_many(Calls &calls, unsigned blocks, unsigned threads, unsigned each)
{
    const auto memory = device::Allocation::pinned(sizeof(unsigned long long));
    auto *right = static_cast<unsigned long long *>(memory.host_address());
    *right = 0;
    const auto ask =
        calls.function<void(unsigned long long *, unsigned)>("ask_all", {.blocks = blocks, .threads = threads});
    const auto begin = Clock::now();
    ask(right, each);
    const double seconds = microseconds_since(begin) / 1e6;
    const std::uint64_t wanted = std::uint64_t{blocks} * threads * each;
    if (*right != wanted)
        lost(*right, wanted);
    return static_cast<double>(wanted) / seconds;
}

} // namespace

void check(device::Device &gpu, const Settings &settings)
{
    constexpr unsigned each = 5;
    Calls calls(options_for(gpu, settings, 32, 3));
    call_by_many(calls, 3, 100);
    call_back_by_many(calls, 3, 32, 2);
    for (const unsigned blocks : {0U, 2U})
        if (calls.function<int(int, int)>("add", {.blocks = blocks, .threads = 32})(20, 22) != 42)
            throw Error("a call returned something else");
    if (const unsigned right = calls.function<unsigned(unsigned)>("ask")(each); right != each)
        lost(right, each);
}

void measure_launches(device::Device &gpu, const Settings &settings, Report &report)
{
    const auto code = device::cuda_code(gpu, settings.module, "empty");
    const auto queue = gpu.make_queue();
    record(report, "launch-and-wait",
           times_of(settings.quick ? 2000 : 20000,
                    [&] {
                        queue->run(*code, {}, {});
                        queue->finish();
                    }),
           "no calls");
}

void measure_latency(device::Device &gpu, const Settings &settings, Report &report)
{
    constexpr unsigned blocks = 16, each = 100;
    Calls calls(options_for(gpu, settings, 32, blocks));
    const auto add = calls.function<int(int, int)>("add");
    const auto nothing = calls.function<void()>("nothing");
    const auto ask = calls.function<unsigned(unsigned)>("ask");
    const auto spread = calls.function<int(int, int)>("add", {.blocks = 2, .threads = 32});
    const unsigned count = settings.quick ? 2000 : 50000;
    record(report, "call",
           times_of(count,
                    [&] {
                        if (add(20, 22) != 42)
                            throw Error("a call returned something else");
                    }),
           "host to GPU and back, two numbers, one returned");
    record(report, "call/nothing", times_of(count, [&] { nothing(); }), "no arguments, nothing returned");
    std::vector<double> backs = times_of(settings.quick ? 30 : 500, [&] {
        if (const unsigned right = ask(each); right != each)
            lost(right, each);
    });
    for (double &back : backs)
        back /= each;
    record(report, "call-back", backs, "GPU to host and back, of " + std::to_string(each) + " in one call");
    record(report, "call/spread", times_of(count / 10, [&] { spread(20, 22); }), "a launch, of two blocks");
}

void measure_many(device::Device &gpu, const Settings &settings, Report &report)
{
    constexpr unsigned blocks = 64, calling = 16;
    Calls calls(options_for(gpu, settings, 32, blocks));
    const unsigned to = settings.quick ? 10000 : 62500, back = settings.quick ? 50 : 489;
    report.record("call/many", call_by_many(calls, calling, to) / 1e6, "millions a second",
                  std::to_string(calling * to) + " calls by " + std::to_string(calling) + " threads, none lost");
    report.record("call-back/many", call_back_by_many(calls, blocks, 32, back) / 1e6, "millions a second",
                  std::to_string(blocks * 32 * back) + " calls by " + std::to_string(blocks * 32) +
                      " threads of the GPU, none lost");
}

} // namespace ptsched::arena::bench
