// SPDX-License-Identifier: MIT
/* Tasks of the host that do next to nothing. */
#include "tests/bench/tasks/measure.hpp"
#include <ptsched/tasks.hpp>

#include <optional>

namespace ptsched::bench_tasks {

namespace {

using Values = std::vector<unsigned long>;
using Clock = std::chrono::steady_clock;

void add(tasks::Runtime &runtime, Values &values, unsigned long count)
{
    for (unsigned long task = 0; task < count; task++)
        runtime.host([](const unsigned long *read, unsigned long *changed) { *changed += *read + 1; },
                     tasks::in(values[read_by(task)]), tasks::inout(values[changed_by(task)]));
}

/* What it is when tasks run in the order in which they depend on each other. */
Values expected(unsigned long count)
{
    Values values(numbers);
    for (unsigned long task = 0; task < count; task++)
        values[changed_by(task)] += values[read_by(task)] + 1;
    return values;
}

void check(const Values &values, unsigned long count, const std::string &who)
{
    if (values != expected(count))
        throw Error(who + ": tasks have not run in order");
}

/* They run while others are made. @values: the same for all that is measured, so that the runtime knows them. */
double running_ns(tasks::Runtime &runtime, Values &values, unsigned long count)
{
    values.assign(numbers, 0);
    const auto begin = Clock::now();
    add(runtime, values, count);
    runtime.wait();
    const double ns = nanoseconds_since(begin) / static_cast<double>(count);
    check(values, count, "the library");
    return ns;
}

struct Live {
    double made_ns, run_ns;
};

/* None runs before all are made: the first one, of which all depend, is held. */
Live live_ns(tasks::Runtime &runtime, Values &values, unsigned long count)
{
    values.assign(numbers, 0);
    std::optional<tasks::Hold> hold;
    std::atomic<bool> held{false};
    runtime.host(
        {"gate"},
        [&] {
            hold.emplace();
            held = true;
            held.notify_all();
        },
        tasks::out(values));
    held.wait(false);
    const auto begin = Clock::now();
    add(runtime, values, count);
    const auto made = Clock::now();
    const double made_ns = nanoseconds_since(begin) / static_cast<double>(count);
    hold.reset();
    runtime.wait();
    const double run_ns = nanoseconds_since(made) / static_cast<double>(count);
    check(values, count, "the library");
    return {made_ns, run_ns};
}

void measure_live(tasks::Runtime &runtime, Values &values, unsigned long live, const Settings &settings,
                  samples::Report &report)
{
    /* Few are measured several times, so that what is measured lasts. */
    const unsigned long times = std::max(1UL, settings.count(1000000) / live);
    std::vector<double> all, made, run;
    for (unsigned round = 0; round <= settings.rounds(); round++) {
        Live sum{};
        for (unsigned long i = 0; i < times; i++) {
            const Live one = live_ns(runtime, values, live);
            sum.made_ns += one.made_ns;
            sum.run_ns += one.run_ns;
        }
        const auto each = static_cast<double>(times);
        if (round == 0 && !settings.check)
            continue;
        made.push_back(sum.made_ns / each);
        run.push_back(sum.run_ns / each);
        all.push_back((sum.made_ns + sum.run_ns) / each);
    }
    const std::string name = "host/live/" + std::to_string(live);
    report.record(name + "_ns", samples::spread_of(all), "ns a task", "so many made before the first one runs");
    report.record(name + "/made_ns", samples::spread_of(made), "ns a task");
    report.record(name + "/run_ns", samples::spread_of(run), "ns a task");
}

} // namespace

void measure_host(const Settings &settings, samples::Report &report)
{
    const unsigned long count = settings.count(1000000);
    Values values(numbers);
    tasks::Runtime runtime({.workers = settings.threads});
    std::vector<double> ours, openmp;
    for (unsigned round = 0; round <= settings.rounds(); round++) {
        const double one = running_ns(runtime, values, count);
        values.assign(numbers, 0);
        const double other = openmp_ns(values, count, settings.threads);
        check(values, count, "OpenMP");
        if (round == 0 && !settings.check)
            continue;
        ours.push_back(one);
        openmp.push_back(other);
    }
    const std::string threads = std::to_string(settings.threads) + " threads";
    report.record("host_ns", samples::spread_of(ours), "ns a task", threads + ", two dependences");
    report.record("host/openmp_ns", samples::spread_of(openmp), "ns a task", threads + ", gcc's OpenMP");
    for (const unsigned long live : {1000UL, 10000UL, 100000UL, 1000000UL})
        if (live <= settings.count(1000000) || live == 1000)
            measure_live(runtime, values, settings.check ? 100 : live, settings, report);
}

} // namespace ptsched::bench_tasks
