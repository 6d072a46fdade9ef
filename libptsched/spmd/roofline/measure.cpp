// SPDX-License-Identifier: MIT
#include "libptsched/spmd/gpu/turn.hpp"
#include "libptsched/spmd/roofline/host.hpp"
#include "libptsched/spmd/roofline/peaks.hpp"
#include <ptsched/base/chrono_clock.hpp>
#include <ptsched/device/allocation.hpp>
#include <ptsched/device/parallel.hpp>
#include <ptsched/spmd/roofline.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace ptsched::spmd::model {

namespace {

constexpr unsigned runs = 5;
/* What is measured takes at least so long. */
constexpr double least_seconds = 0.02;
constexpr unsigned most_rounds = 1u << 30;

double seconds_since(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/* Of the best run, per second; the first one is for what is not there yet. */
template <typename Work> double best(double amount, Work work)
{
    double shortest = 1e9;
    work();
    for (unsigned i = 0; i < runs; i++)
        shortest = std::min(shortest, work());
    return amount / std::max(shortest, 1e-9);
}

template <typename Work> double seconds_of(Work work)
{
    const auto begin = Clock::now();
    work();
    return seconds_since(begin);
}

double read_rate(std::size_t bytes)
{
    const std::size_t count = bytes / sizeof(std::uint64_t);
    const std::unique_ptr<std::uint64_t[]> numbers(new std::uint64_t[count]);
    device::first_touch(numbers.get(), count * sizeof(std::uint64_t));
    std::atomic<std::uint64_t> used{0};
    const auto run = [&](unsigned rounds) {
        return seconds_of([&] {
            device::parallel_for(count, [&](std::size_t begin, std::size_t end) {
                for (unsigned i = 0; i < rounds; i++)
                    used.fetch_add(read(numbers.get() + begin, end - begin), std::memory_order_relaxed);
            });
        });
    };
    /* That threads begin and end takes time, too. */
    unsigned rounds = 1;
    while (run(rounds) < least_seconds && rounds < most_rounds)
        rounds *= 2;
    return best(static_cast<double>(count * sizeof(std::uint64_t)) * rounds, [&] { return run(rounds); });
}

/* As many rounds as take some time; all processors at once. */
template <typename Number> double host_peak()
{
    const unsigned all = device::host_processors();
    std::atomic<Number> used{0};
    const auto run = [&](unsigned rounds) {
        return seconds_of([&] {
            device::parallel_for(all, [&](std::size_t begin, std::size_t end) {
                for (; begin < end; begin++)
                    used.store(multiply_add<Number>(rounds), std::memory_order_relaxed);
            });
        });
    };
    unsigned rounds = 1000;
    while (run(rounds) < least_seconds && rounds < most_rounds)
        rounds *= 2;
    return best(operations_of_round<Number>() * rounds * all, [&] { return run(rounds); });
}

/* How much longer than one of them all processors take for the same, after they have been asleep: a median. */
double waking_seconds()
{
    constexpr std::chrono::milliseconds asleep{1};
    constexpr double busy = 200e-6; /* else the caller would do all before others come */
    constexpr unsigned times = 15;
    const unsigned all = device::host_processors();
    std::vector<double> found;
    for (unsigned i = 0; i < times; i++) {
        std::this_thread::sleep_for(asleep);
        found.push_back(seconds_of([&] {
            device::parallel_for(all, [](std::size_t, std::size_t) {
                const auto begin = Clock::now();
                while (seconds_since(begin) < busy) {
                }
            });
        }));
    }
    std::nth_element(found.begin(), found.begin() + times / 2, found.end());
    return std::max(found[times / 2] - busy, 0.0);
}

/* Of a GPU: a queue, and turns in which it may be given something. */
struct Measured {
    const std::unique_ptr<device::Turns> turns;
    const std::unique_ptr<device::Queue> queue;
};

/* Of what the queue is given, by the device's own clock where it has one. */
template <typename Give> double seconds_on(const Measured &gpu, Give give)
{
    const Turn turn(gpu.turns.get());
    device::Queue &queue = *gpu.queue;
    const auto begin = Clock::now();
    const std::unique_ptr<device::Watch> watch = queue.watch();
    give();
    if (watch)
        watch->stop();
    queue.finish();
    const double took = watch ? watch->seconds() : 0;
    return took > 0 ? took : seconds_since(begin);
}

/* Zero where the driver does not compile the kernel. */
double gpu_peak(device::Device &gpu, const Measured &on, bool twice)
{
    constexpr unsigned threads_of_block = 256;
    const auto threads = gpu.most_threads();
    if (!threads)
        return 0;
    std::unique_ptr<device::Code> code;
    try {
        code = multiply_add_kernel(gpu, twice);
    } catch (const device::Fault &) {
        throw;
    } catch (const Error &) {
        return 0;
    }
    device::Address unwritten = 0;
    unsigned rounds = 1024;
    const auto blocks = static_cast<unsigned>(std::max<std::size_t>(*threads / threads_of_block, 1));
    const auto run = [&] {
        return seconds_on(on, [&] {
            on.queue->run(*code, {{blocks, 1, 1}, {threads_of_block, 1, 1}}, {&unwritten, &rounds});
        });
    };
    run();
    while (run() < least_seconds && rounds < most_rounds / 2)
        rounds *= 2;
    return best(kernel_operations * rounds * static_cast<double>(blocks) * threads_of_block, run);
}

/* Half of it if there is not as much. */
device::Allocation some_of(device::Device &gpu, std::size_t bytes)
{
    constexpr std::size_t least = std::size_t{64} << 10;
    for (;; bytes /= 2)
        try {
            return device::Allocation::on_device(gpu, bytes);
        } catch (const device::OutOfMemory &) {
            if (bytes <= least)
                throw;
        }
}

} // namespace

Cpu measure_cpu(std::size_t bytes)
{
    Cpu cpu;
    cpu.name = cpu_model();
    cpu.cores = device::host_processors();
    cpu.dram = read_rate(bytes ? bytes : buffer_bytes());
    cpu.peak.fp32 = host_peak<float>();
    cpu.peak.fp64 = host_peak<double>();
    cpu.latency = waking_seconds();
    return cpu;
}

Gpu measure_gpu(device::Device &device, std::size_t bytes, bool attach)
{
    /* Larger than any GPU's cache. */
    constexpr std::size_t usual = std::size_t{512} << 20;
    Gpu gpu;
    gpu.name = device.name();
    gpu.memory = memory_bytes(device).value_or(0);
    const Measured on{open_turns(device, attach), device.make_queue()};
    device::Queue &queue = *on.queue;
    const device::Allocation there = some_of(device, bytes ? bytes : usual);
    const device::Allocation here = device::Allocation::pinned(std::min(there.bytes(), buffer_bytes()));
    std::fill_n(static_cast<std::byte *>(here.host_address()), here.bytes(), std::byte{0});

    const std::size_t sent = here.bytes(), half = there.bytes() / 2;
    gpu.to_gpu = best(static_cast<double>(sent), [&] {
        return seconds_on(on, [&] { queue.upload(there.address(), here.host_address(), sent); });
    });
    gpu.to_host = best(static_cast<double>(sent), [&] {
        return seconds_on(on, [&] { queue.download(here.host_address(), there.address(), sent); });
    });
    /* Half of it is read and as much is written. */
    gpu.dram = best(2.0 * static_cast<double>(half), [&] {
        return seconds_on(on, [&] { queue.copy(there.address() + half, device, there.address(), half); });
    });
    /* A block of a few bytes: what all others cost, too. */
    gpu.latency = 1 / best(1, [&] {
                      const Turn turn(on.turns.get());
                      return seconds_of([&] {
                          queue.upload(there.address(), here.host_address(), 4);
                          queue.finish();
                      });
                  });
    gpu.peak.fp32 = gpu_peak(device, on, false);
    gpu.peak.fp64 = gpu_peak(device, on, true);
    return gpu;
}

Machine measure(const MeasureOptions &options)
{
    Machine machine;
    machine.name = host_name();
    machine.cpu = measure_cpu(options.bytes);
    if (options.gpus)
        for (device::Device *gpu : device::gpus())
            machine.gpus.push_back(measure_gpu(*gpu, options.bytes, options.attach));
    if (options.network)
        machine.network = options.network();
    return machine;
}

} // namespace ptsched::spmd::model
