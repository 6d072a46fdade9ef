// SPDX-License-Identifier: MIT
#include "samples/pool/citizen/measure.hpp"

#include "samples/pool/citizen/chains.hpp"

#include <chrono>
#include <random>
#include <sstream>
#include <thread>

namespace ptsched::pool::bench {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using samples::percentile;
using samples::Spread;
using samples::spread_of;

constexpr int heavy = -20, light = 19;

std::vector<std::string> pool_role(const Setup &setup, bool attaches)
{
    return {"pool",
            setup.settings.module,
            std::to_string(setup.size.blocks),
            std::to_string(setup.size.threads),
            std::to_string(setup.steps),
            attaches ? "attach" : "alone"};
}

/* Of a pool that rests; its tasks have come back as they should. */
State rest(Child &pool)
{
    State state;
    std::istringstream(pool.ask("rest")) >> state.on_devices >> state.launches >> state.parks;
    if (!state.on_devices || state.launches != state.parks)
        throw Error("the pool has not done its tasks, or has not left the device");
    return state;
}

/* For so many rounds of these tasks, with the blocks there already; then it leaves the device. */
template <typename Task> double seconds_for(Pool<Task> &pool, const std::vector<Task> &tasks, unsigned rounds)
{
    pool.push_all(std::span(tasks));
    pool.wait();
    for (std::size_t i = 0; i < tasks.size(); i++)
        pool.pop();
    const auto begin = Clock::now();
    std::jthread pushes([&] {
        for (unsigned round = 0; round < rounds; round++)
            pool.push_all(std::span(tasks));
    });
    std::vector<typename Pool<Task>::Any> some(tasks.size());
    for (std::size_t left = tasks.size() * rounds; left;)
        left -= pool.pop_some(std::span(some).first(std::min(left, some.size())));
    const double taken = std::chrono::duration<double>(Clock::now() - begin).count();
    while (pool.state().resident)
        std::this_thread::sleep_for(1ms);
    return taken;
}

template <typename Task>
void measure_attached_of(const Setup &setup, const std::string &kernel, const Task &task, unsigned rounds,
                         const std::string &name, Report &report)
{
    Options options = options_for(setup.gpu, setup.settings.module, kernel, setup.size);
    Pool<Task> alone(options);
    options.attach = Attach::required;
    Pool<Task> attached(options);
    const std::vector<Task> tasks(64, task);
    std::vector<double> relative;
    for (unsigned round = 0; round < (setup.settings.check ? 2 : 3 * setup.settings.rounds()); round++) {
        /* Each is the first every other time: what the machine does besides changes slowly. */
        const double first = seconds_for(round % 2 ? attached : alone, tasks, rounds);
        const double second = seconds_for(round % 2 ? alone : attached, tasks, rounds);
        relative.push_back(round % 2 ? second / first : first / second);
    }
    if (!setup.settings.check)
        report.record(name, spread_of(relative), "ratio", "the same pool, not attached; nobody else");
}

} // namespace

void measure_parks(const Setup &setup, Report &report)
{
    const unsigned parks = setup.settings.check ? 3 : setup.settings.quick ? 200 : 1000;
    const auto pool = setup.scheduler.start(pool_role(setup, true), setup.nice(light));
    const auto rival = setup.scheduler.start({"rival", setup.gpu.bus_address()}, setup.nice(0));
    std::vector<double> waits, leaves;
    std::minstd_rand random;
    pool->ask("work");
    for (unsigned i = 0; i < parks; i++) {
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 1000));
        waits.push_back(std::stod(rival->ask("take")) / 1000);
        leaves.push_back(std::stod(pool->ask("again")) / 1000);
    }
    const State state = rest(*pool);
    if (state.parks < parks)
        throw Error("the pool left the device " + std::to_string(state.parks) + " times, of " + std::to_string(parks));
    if (setup.settings.check)
        return;
    const std::string what = "from the call-back to an empty device, tasks of 20 us; the results of " +
                             std::to_string(state.on_devices) + " tasks are right after " +
                             std::to_string(state.parks) + " parks";
    const std::string next = "until the next has its turn, which it is told by the scheduler";
    report.record("park_us", percentile(leaves, 0.99), "us", "p99; " + what);
    report.record("park-median_us", percentile(leaves, 0.5), "us", "median; " + what);
    report.record("park/handed-on_us", percentile(waits, 0.99), "us", "p99; " + next);
    report.record("park/handed-on-median_us", percentile(waits, 0.5), "us", "median; " + next);
}

void measure_loop(const Setup &setup, bool attaches, Report &report)
{
    const bool check = setup.settings.check;
    const std::string seconds = check ? "0.05" : setup.settings.quick ? "0.3" : "1";
    const auto bare = setup.scheduler.start({"loop", setup.settings.module}, setup.nice(heavy));
    const auto loop = setup.scheduler.start({"loop", setup.settings.module}, setup.nice(heavy), "preempt");
    const std::string run = "run " + (check ? "100" : bare->ask("steps 60")) + " " + seconds;
    std::vector<double> relative;
    State state;
    {
        const auto pool =
            setup.scheduler.start(pool_role(setup, attaches), setup.nice(light), attaches ? "" : "preempt");
        /* Levels are found out in the first round, which does not count. */
        for (unsigned round = 0; round <= (check ? 0 : setup.settings.rounds()); round++) {
            const double alone = std::stod(bare->ask(run));
            pool->ask("work");
            const double beside = std::stod(loop->ask(run));
            state = rest(*pool);
            if (round)
                relative.push_back(beside / alone);
        }
    }
    const Statistics statistics = setup.scheduler.statistics();
    if (!attaches && !statistics.submissions)
        throw Error("the interposer has not seen the pool's kernel");
    if (check)
        return;
    const std::string how = attaches ? "the pool left the device " + std::to_string(state.parks) + " times"
                                     : "the pool was taken off " + std::to_string(statistics.preemptions) + " times";
    report.record(attaches ? "citizen/gate" : "citizen/preempt", spread_of(relative), "ratio",
                  "60 us kernels at nice -20, alone and bare; the pool at nice 19 is never idle; " + how);
}

void measure_attached(const Setup &setup, Report &report)
{
    const unsigned some = setup.settings.check ? 1 : setup.settings.quick ? 1000 : 20000;
    /* Bound by the device, and by the thread that hands them out. */
    measure_attached_of(setup, "chains", Chains(setup.steps).make(0), some, "attached", report);
    measure_attached_of(setup, "nothings", Nothing{}, some, "attached/dispatch", report);
}

} // namespace ptsched::pool::bench
