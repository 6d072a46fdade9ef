// SPDX-License-Identifier: MIT
/* Tasks of a GPU that do next to nothing, and how long they wait. */
#include "tests/bench/tasks/measure.hpp"
#include <ptsched/device/allocation.hpp>
#include <ptsched/tasks.hpp>

#include <atomic>
#include <thread>

namespace ptsched::bench_tasks {

namespace {

using Clock = std::chrono::steady_clock;

tasks::Kernel kernel_of(const Settings &settings, const std::string &name)
{
    return tasks::Kernel(
        [module = settings.module, name](device::Device &gpu) { return device::cuda_code(gpu, module, name); });
}

template <typename Function>
double running_us(tasks::Runtime &runtime, const tasks::Array<unsigned long> &values, unsigned long count,
                  const Function &function)
{
    const auto begin = Clock::now();
    for (unsigned long task = 0; task < count; task++)
        runtime.cuda(function, tasks::in(values[read_by(task)]), tasks::inout(values[changed_by(task)]));
    runtime.wait();
    return nanoseconds_since(begin) / 1000 / static_cast<double>(count);
}

template <typename Function>
void measure(const std::string &name, const Function &function, const Settings &settings, samples::Report &report,
             const std::string &what)
{
    const unsigned long count = settings.count(200000);
    tasks::Runtime runtime({.workers = settings.threads, .devices = {&first_gpu()}});
    const auto values = runtime.array<unsigned long>(numbers);
    std::fill(values.begin(), values.end(), 7);
    std::vector<double> found;
    for (unsigned round = 0; round <= settings.rounds(); round++) {
        const double us = running_us(runtime, values, count, function);
        if (round > 0)
            found.push_back(us);
    }
    if (std::any_of(values.begin(), values.end(), [](unsigned long value) { return value != 7; }))
        throw Error("what no task has changed is not what it was");
    if (const auto run = runtime.state().on_devices; run != count * (settings.rounds() + 1))
        throw Error("of the tasks, " + std::to_string(run) + " have run");
    report.record(name, samples::spread_of(found), "us a task", what);
}

/* The driver's part in a task with a kernel. */
void measure_launches(const Settings &settings, samples::Report &report)
{
    const unsigned long count = settings.count(200000);
    device::Device &gpu = first_gpu();
    const auto code = device::cuda_code(gpu, settings.module, "nothing");
    const auto queue = gpu.make_queue();
    std::vector<double> found;
    for (unsigned round = 0; round <= settings.rounds(); round++) {
        const auto begin = Clock::now();
        for (unsigned long i = 0; i < count; i++)
            queue->run(*code, {}, {});
        queue->finish();
        if (round > 0)
            found.push_back(nanoseconds_since(begin) / 1000 / static_cast<double>(count));
    }
    report.record("cuda/launch_us", samples::spread_of(found), "us", "the same kernel in one stream, without tasks");
}

/* A word that a kernel sets. */
class Word {
public:
    Word() : memory_(device::Allocation::pinned(sizeof(unsigned))) { *on_host() = 0; }
    unsigned *on_device() const { return static_cast<unsigned *>(device::host_pointer(memory_.address())); }
    /* False if it does not come. */
    bool wait_for(unsigned what) const
    {
        for (const auto begin = Clock::now(); *on_host() != what;)
            if (nanoseconds_since(begin) > 10e9)
                return false;
        return true;
    }

private:
    volatile unsigned *on_host() const { return static_cast<volatile unsigned *>(memory_.host_address()); }

    device::Allocation memory_;
};

/* From the making of a task until its kernel has run, in ms; one after another, at times that follow no pattern. */
std::vector<double> waits_ms(tasks::Runtime &runtime, const Settings &settings, unsigned count)
{
    const tasks::Kernel kernel = kernel_of(settings, "say");
    const Word word;
    std::vector<double> found;
    for (unsigned i = 1; i <= count; i++) {
        std::this_thread::sleep_for(std::chrono::microseconds(1000 + i * 7919 % 4000));
        const auto begin = Clock::now();
        runtime.cuda([&](tasks::Gpu &gpu) {
            unsigned *at = word.on_device();
            unsigned what = i;
            kernel.run(gpu, {}, {&at, &what});
        });
        if (!word.wait_for(i))
            throw Error("a task of the GPU has not run in 10 s");
        found.push_back(nanoseconds_since(begin) / 1e6);
    }
    return found;
}

void spin_for(std::chrono::milliseconds duration)
{
    for (const auto end = Clock::now() + duration; Clock::now() < end;)
        ;
}

} // namespace

device::Device &first_gpu()
{
    if (device::gpus().empty())
        throw Error("there is no GPU, or no driver for it: --only host does without");
    return *device::gpus().front();
}

void measure_cuda(const Settings &settings, samples::Report &report)
{
    measure(
        "cuda_us", [](tasks::Gpu &) {}, settings, report,
        "two dependences, a function that gives nothing; CUDASTF: 2.0");
    const tasks::Kernel nothing = kernel_of(settings, "nothing");
    measure(
        "cuda/kernel_us", [nothing](tasks::Gpu &gpu, const void *, void *) { nothing.run(gpu, {}, {}); }, settings,
        report, "two dependences, an empty kernel");
    measure_launches(settings, report);
}

void measure_helper(const Settings &settings, samples::Report &report)
{
    constexpr std::chrono::milliseconds long_one{10};
    const unsigned count = settings.check ? 5 : settings.quick ? 50 : 300;
    tasks::Runtime runtime({.workers = settings.threads, .devices = {&first_gpu()}});
    std::vector<double> idle = waits_ms(runtime, settings, count);
    std::atomic<bool> over{false};
    /* So many that the last ones have nothing to do. */
    for (unsigned i = 0; i < 4 * count * settings.threads; i++)
        runtime.host([&] {
            if (!over)
                spin_for(long_one);
        });
    std::vector<double> busy = waits_ms(runtime, settings, count);
    const bool were_busy = runtime.state().live > 0;
    over = true;
    runtime.wait();
    if (!were_busy)
        throw Error("the workers had not enough to do");
    const double more = samples::percentile(busy, 0.95) - samples::percentile(idle, 0.95);
    report.record("helper-wait_ms", more, "ms", "95 of 100 wait so much more, at most, while workers have 10 ms each");
    report.record("helper-wait/busy_ms", samples::spread_of(busy), "ms", "from its making until its kernel has run");
    report.record("helper-wait/idle_ms", samples::spread_of(idle), "ms");
}

} // namespace ptsched::bench_tasks
