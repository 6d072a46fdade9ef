// SPDX-License-Identifier: MIT
#include "samples/pool/micro/measure.hpp"

#include "samples/pool/micro/tasks.h"
#include <ptsched/device/allocation.hpp>

#include <chrono>
#include <thread>

namespace ptsched::pool::bench {

namespace {

using Clock = std::chrono::steady_clock;
using samples::percentile;
using samples::Spread;
using samples::spread_of;

constexpr unsigned default_blocks = 64, default_depth = 8;

double nanoseconds_since(Clock::time_point begin)
{
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

Options options_for(device::Device &gpu, const Settings &settings, const std::string &kernel)
{
    return {
        .kernel = [=](device::Device &one) { return device::cuda_code(one, settings.module, kernel); },
        .devices = {&gpu},
        .threads = 32,
        .blocks = default_blocks,
        .depth = default_depth,
    };
}

/* One thread pushes, one pops; nanoseconds for each task. */
template <typename Task> Spread dispatch(const Options &options, const Settings &settings)
{
    const unsigned count = settings.quick ? 20000 : 500000;
    Pool<Task> pool(options);
    std::vector<double> found;
    /* The first round has the launch in it. */
    for (unsigned round = 0; round <= settings.rounds(); round++) {
        const auto begin = Clock::now();
        std::jthread pushes([&] {
            for (unsigned i = 0; i < count; i++)
                pool.push(Task{});
        });
        for (unsigned i = 0; i < count; i++)
            pool.pop();
        if (round)
            found.push_back(nanoseconds_since(begin) / count);
    }
    return spread_of(found);
}

template <unsigned Bytes> void dispatch_size(device::Device &gpu, const Settings &settings, Report &report)
{
    const std::string bytes = std::to_string(Bytes);
    const Options options = options_for(gpu, settings, "nothing" + bytes);
    report.record("dispatch/bytes/" + bytes, dispatch<Nothing<Bytes>>(options, settings), "ns a task");
}

/* Of pushes and pops one after another, with a pause before each. */
std::vector<double> round_trips(Pool<Nothing<24>> &pool, unsigned count, std::chrono::microseconds pause)
{
    std::vector<double> found;
    pool.push(Nothing<24>{});
    pool.pop();
    for (unsigned i = 0; i < count; i++) {
        if (pause.count())
            std::this_thread::sleep_for(pause);
        const auto begin = Clock::now();
        pool.push(Nothing<24>{});
        pool.pop();
        found.push_back(nanoseconds_since(begin) / 1000);
    }
    return found;
}

/* To the device, GB in a second. */
double copy_rate(device::Device &gpu, const device::Allocation &from, const device::Allocation &to)
{
    const auto queue = gpu.make_queue();
    queue->upload(to.address(), from.host_address(), from.bytes());
    queue->finish();
    const auto begin = Clock::now();
    for (unsigned i = 0; i < 8; i++)
        queue->upload(to.address(), from.host_address(), from.bytes());
    queue->finish();
    return 8 * static_cast<double>(from.bytes()) / nanoseconds_since(begin);
}

} // namespace

void check(device::Device &gpu, const Settings &settings)
{
    Pool<Nothing<24>> pool(options_for(gpu, settings, "nothing24"));
    for (unsigned long long i = 1; i <= 100; i++)
        pool.push(Nothing<24>{{i, 2 * i, 3 * i}});
    pool.close();
    unsigned long long sum = 0;
    while (const auto task = pool.pop()) {
        if (task->words[1] != 2 * task->words[0] || task->words[2] != 3 * task->words[0])
            throw Error("a task came back as another");
        sum += task->words[0];
    }
    if (sum != 5050)
        throw Error("not all tasks came back");
}

double measure_launches(device::Device &gpu, const Settings &settings, Report &report)
{
    const unsigned count = settings.quick ? 2000 : 50000;
    const auto code = device::cuda_code(gpu, settings.module, "empty");
    const auto queue = gpu.make_queue();
    std::vector<double> launches, waits;
    for (unsigned round = 0; round <= settings.rounds(); round++) {
        const auto begin = Clock::now();
        for (unsigned i = 0; i < count; i++)
            queue->run(*code, {}, {});
        queue->finish();
        if (round)
            launches.push_back(nanoseconds_since(begin) / count);
    }
    for (unsigned i = 0; i < count / 20; i++) {
        const auto begin = Clock::now();
        queue->run(*code, {}, {});
        queue->finish();
        waits.push_back(nanoseconds_since(begin) / 1000);
    }
    const Spread launch = spread_of(launches);
    report.record("launch_ns", launch, "ns a launch", "one after another, no pool");
    report.record("launch-and-wait_us", percentile(waits, 0.5), "us", "median, no pool");
    return launch.median;
}

void measure_dispatch(device::Device &gpu, const Settings &settings, double launch_ns, Report &report)
{
    const Spread usual = dispatch<Nothing<24>>(options_for(gpu, settings, "nothing24"), settings);
    report.record("dispatch_ns", usual, "ns a task", "24 bytes; the paper: 200");
    report.record("launch-over-dispatch", launch_ns / usual.median, "", "launch_ns; the paper: 20");
    report.record("dispatch/fenced", dispatch<Nothing<24>>(options_for(gpu, settings, "fenced24"), settings),
                  "ns a task", "24 bytes, functions that may write more than their task");
    dispatch_size<16>(gpu, settings, report);
    dispatch_size<64>(gpu, settings, report);
    dispatch_size<128>(gpu, settings, report);
    dispatch_size<256>(gpu, settings, report);
    for (const unsigned blocks : {1U, 4U, 16U, 32U, 64U, 128U, 256U}) {
        Options options = options_for(gpu, settings, "nothing24");
        options.blocks = blocks;
        report.record("dispatch/blocks/" + std::to_string(blocks), dispatch<Nothing<24>>(options, settings),
                      "ns a task");
    }
}

void measure_round_trips(device::Device &gpu, const Settings &settings, Report &report)
{
    Options options = options_for(gpu, settings, "nothing24");
    options.blocks = 16;
    options.idle = std::chrono::seconds(10);
    Pool<Nothing<24>> pool(options);
    const auto busy = round_trips(pool, settings.quick ? 300 : 20000, {});
    report.record("roundtrip_us", percentile(busy, 0.5), "us", "median; 24 bytes, 16 blocks");
    report.record("roundtrip-p99_us", percentile(busy, 0.99), "us");
    const auto idle = round_trips(pool, settings.quick ? 30 : 1000, std::chrono::microseconds(500));
    report.record("wake_us", percentile(idle, 0.5), "us", "median; after 0.5 ms without a task");
    report.record("wake-p99_us", percentile(idle, 0.99), "us");
}

void measure_idle_bus(device::Device &gpu, const Settings &settings, Report &report)
{
    const std::size_t bytes = settings.quick ? std::size_t{1} << 20 : std::size_t{256} << 20;
    const auto from = device::Allocation::pinned(bytes), to = device::Allocation::on_device(gpu, bytes);
    Options options = options_for(gpu, settings, "nothing24");
    options.blocks = 0;
    options.idle = std::chrono::hours(1);
    std::vector<double> taken;
    for (unsigned round = 0; round < 2 * settings.rounds() + 1; round++) {
        const double alone = copy_rate(gpu, from, to);
        Pool<Nothing<24>> pool(options);
        pool.push(Nothing<24>{});
        pool.pop();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        taken.push_back(1 - copy_rate(gpu, from, to) / alone);
    }
    report.record("idle-bus", spread_of(taken), "", "of a copy to the device, without the pool");
}

} // namespace ptsched::pool::bench
