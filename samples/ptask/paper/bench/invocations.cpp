// SPDX-License-Identifier: MIT
// What a ptask costs that does nothing and has two dependencies.
#include "bench.hpp"
#include "child.hpp"
#include "programs.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace ptsched::paper {

namespace {

constexpr double seconds_for_each = 0.5;
constexpr unsigned rows = 5, few = 10, many = 10000, warm_up = 2;

/* As many tasks in graphs of each size. */
unsigned runs_of(std::size_t tasks)
{
    return static_cast<unsigned>(3 * many / tasks);
}

/* What a process finds that has a driver whose calls do nothing: when tasks run by themselves, or as a CUDA graph. */
double host_cost(const Options &options, bool lowered)
{
    const char *libraries = std::getenv("LD_LIBRARY_PATH");
    auto folder = program_folder() / "null-driver";
    std::vector<std::string> words{lowered ? "--lowered-cost" : "--host-cost", "--module", options.module};

    if (options.iterations)
        words.insert(words.end(), {"--iterations", std::to_string(options.iterations)});
    if (!std::filesystem::exists(folder / "libcuda.so.1"))
        throw Error("there is no " + (folder / "libcuda.so.1").string() + ", which the cost on the host needs");
    /* What is preloaded would be measured, too. */
    return numbers_of_child(
               words, {{"LD_LIBRARY_PATH", folder.string() + (libraries ? ":" : "") + (libraries ? libraries : "")},
                       {"LD_PRELOAD", ""}})
        .at(0);
}

std::optional<double> measure(const Bench &bench, unsigned tasks, const Variant &variant)
{
    say_progress("an empty task of " + std::to_string(tasks) + ", " + variant.name);
    Checked checked(empty_steps(rows, tasks / rows));
    auto time = bench.time(checked, variant, bench.options.iterations ? 3 : runs_of(tasks), seconds_for_each);
    if (time)
        *time *= 1e6 / tasks;
    return time;
}

void compare_with_hand(const Bench &bench)
{
    const Variant streams{"streams", [](const Gpu &gpu, const Workload &w, unsigned count) {
                              return make_best(gpu, w, count, Means::streams);
                          }};
    const Variant graph{"graph", [](const Gpu &gpu, const Workload &w, unsigned count) {
                            return make_best(gpu, w, count, Means::graph);
                        }};
    for (const Variant &variant : {streams, graph})
        if (auto time = measure(bench, few, variant)) {
            std::printf("%-32s %8.3f us\n", (std::string("by hand, ") + variant.name).c_str(), *time);
            bench.report.record(std::string("invocation/") + variant.name + "_us", *time, "us", "the same run");
        }
}

} // namespace

void print_host_cost(const Options &options, bool lowered)
{
    Workload workload = empty_steps(rows, few / rows);
    auto executor =
        make_ptask(options.module, workload, {.lower = lowered ? ptask::Lower::always : ptask::Lower::never});
    const unsigned repetitions = options.iterations ? options.iterations : 10;
    const unsigned runs = options.iterations ? 20 : runs_of(few);
    std::vector<double> times;

    for (unsigned i = 0; i < warm_up + repetitions; i++) {
        executor->prepare(runs);
        auto start = std::chrono::steady_clock::now();
        executor->run(runs);
        if (i >= warm_up)
            times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::printf("%.6f\n", median(times) * 1e6 / (runs * few));
}

namespace {

void host(const Bench &bench)
{
    try {
        for (bool lowered : {false, true}) {
            double cost = host_cost(bench.options, lowered);
            const char *where = lowered ? "on the host, in a CUDA graph" : "on the host";
            std::printf("%-32s %8.3f us   with a driver whose calls do nothing\n", where, cost);
            bench.report.record(lowered ? "invocation/lowered_us" : "invocation/host_us", cost, "us",
                                "a driver whose calls do nothing");
        }
    } catch (const Error &error) {
        bench.report.fail(error.what());
    }
}

/* With a number of repetitions it is a trial, which need not be large. */
void large_graph(const Bench &bench, double small)
{
    const unsigned largest = bench.options.iterations ? 100 * few : many;
    auto large = measure(bench, largest, variants().back());
    if (!large)
        return;
    std::printf("ptask, %5u in the graph           %8.3f us\n", largest, *large);
    std::printf("%-32s %8.3f\n", "the latter over the former", *large / small);
    bench.report.record("invocation/" + std::to_string(largest) + "-over-10", *large / small, "ratio",
                        "10 ptasks in the graph");
}

} // namespace

void invocations(const Bench &bench)
{
    if (!bench.options.wants("invocation"))
        return;
    std::printf("\nA ptask that does nothing and has two dependencies\n");
    compare_with_hand(bench);
    host(bench);
    auto small = measure(bench, few, variants().back());
    if (!small)
        return;
    std::printf("%-32s %8.3f us   CUDASTF 2.0, StarPU 4.8 to 8.4\n", "ptask, 10 in the graph", *small);
    bench.report.record("invocation/total_us", *small, "us", "CUDASTF 2.0, StarPU 4.8 to 8.4");
    large_graph(bench, *small);
}

} // namespace ptsched::paper
