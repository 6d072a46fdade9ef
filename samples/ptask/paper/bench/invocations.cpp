// SPDX-License-Identifier: MIT
/* What a ptask costs that does nothing and has two dependencies. */
#include "samples/ptask/paper/bench/bench.hpp"
#include "samples/ptask/paper/bench/child.hpp"
#include "samples/ptask/paper/programs.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace ptsched::paper {

namespace {

constexpr double seconds_for_each = 0.5;
constexpr unsigned rows = 5, few = 10, many = 10000, warm_up = 2, pairs = 5, processes = 5;

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

/* In turns, since a host that others use is fast at one time and slow at another. */
void host(const Bench &bench)
{
    try {
        std::vector<double> costs[2];
        for (unsigned i = 0; i < (bench.options.iterations ? 1 : processes); i++)
            for (bool lowered : {false, true})
                costs[lowered].push_back(host_cost(bench.options, lowered));
        for (bool lowered : {false, true}) {
            const std::vector<double> &all = costs[lowered];
            const char *where = lowered ? "on the host, in a CUDA graph" : "on the host";
            std::printf("%-32s %8.3f us   with a driver whose calls do nothing; median of %zu, %.3f to %.3f\n", where,
                        median(all), all.size(), *std::ranges::min_element(all), *std::ranges::max_element(all));
            bench.report.record(lowered ? "invocation/lowered_us" : "invocation/host_us", median(all), "us",
                                "a driver whose calls do nothing");
        }
    } catch (const Error &error) {
        bench.report.fail(error.what());
    }
}

/* In turns, since a GPU's clocks and a driver's state change; with a number of repetitions it is a trial. */
void graphs_of_both_sizes(const Bench &bench)
{
    const bool trial = bench.options.iterations;
    const unsigned largest = trial ? 100 * few : many;
    std::vector<double> small, large, ratios;
    for (unsigned pair = 0; pair < (trial ? 1 : pairs); pair++) {
        const auto one = measure(bench, few, variants().back()), other = measure(bench, largest, variants().back());
        if (!one || !other)
            return;
        small.push_back(*one);
        large.push_back(*other);
        ratios.push_back(*other / *one);
    }
    std::printf("%-32s %8.3f us   CUDASTF 2.0, StarPU 4.8 to 8.4\n", "ptask, 10 in the graph", median(small));
    bench.report.record("invocation/total_us", median(small), "us", "CUDASTF 2.0, StarPU 4.8 to 8.4");
    std::printf("ptask, %5u in the graph           %8.3f us\n", largest, median(large));
    std::printf("%-32s %8.3f   median of %zu pairs, %.3f to %.3f\n", "the latter over the former", median(ratios),
                ratios.size(), *std::ranges::min_element(ratios), *std::ranges::max_element(ratios));
    bench.report.record("invocation/" + std::to_string(largest) + "-over-10", median(ratios), "ratio",
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
    graphs_of_both_sizes(bench);
}

} // namespace ptsched::paper
