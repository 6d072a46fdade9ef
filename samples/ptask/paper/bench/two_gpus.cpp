// SPDX-License-Identifier: MIT
// Fig. 12: columns of products that have nothing to do with each other, on all GPUs and on the first.
#include "bench.hpp"
#include "child.hpp"
#include "programs.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <utility>

namespace ptsched::paper {

namespace {

constexpr double seconds_for_each = 0.3;
constexpr unsigned breadth = 8, large = 512, depths[] = {1, 2, 4, 6};
constexpr const char *paper_at_256[] = {"paper 1.03", "paper 1.22", "paper 1.51", "paper 1.65"};

std::vector<unsigned> sizes(const Options &options)
{
    return options.size ? std::vector{options.size} : std::vector{256u, 1024u};
}

/* Seconds of a run for each size and depth, and the blocks that moved for them. */
struct Found {
    std::vector<double> times;
    std::uint64_t moved = 0, migrated = 0;
};

Found measure(const Bench &bench, ptask::Mode mode, std::span<const unsigned> depths)
{
    Found found;
    for (unsigned n : sizes(bench.options))
        for (unsigned depth : depths) {
            say_progress("products in columns of " + std::to_string(depth) + ", n = " + std::to_string(n));
            Checked checked(rectangle(Matrices::multiply, depth, breadth, n));
            auto executor = make_ptask(bench.gpu.module_path(), checked.workload(), {.mode = mode});
            /* For some hundredths of a second, of which its beginning and end are a small part. */
            const unsigned count = bench.options.iterations ? 4 : n >= large ? 16 : 128;
            found.times.push_back(bench.times({executor.get()}, count, seconds_for_each)[0]);
            for (const ptask::DeviceCounters &device : executor->counters()) {
                found.moved += device.blocks_uploaded + device.blocks_migrated;
                found.migrated += device.blocks_migrated;
            }
            /* The host would take half a minute for the large ones. */
            if (n < large)
                checked.check(*executor, "ptask");
        }
    return found;
}

/* The same of a process that sees only the first. */
std::vector<double> times_on_one(const Options &options)
{
    const char *visible = std::getenv("CUDA_VISIBLE_DEVICES");
    std::string first = visible && *visible ? visible : "0";
    std::vector<std::string> words{"--graph-times", "--module", options.module};

    if (options.iterations)
        words.insert(words.end(), {"--iterations", std::to_string(options.iterations)});
    if (options.size)
        words.insert(words.end(), {"--size", std::to_string(options.size)});
    if (options.quick)
        words.push_back("--quick");
    return numbers_of_child(words, {{"CUDA_VISIBLE_DEVICES", first.substr(0, first.find(','))}});
}

void compare(const Bench &bench, const Found &found, const std::vector<double> &one)
{
    const std::vector<double> &all = found.times;
    double deepest = 0, lowest = 0;
    std::size_t i = 0;

    std::printf("\nFig. 12: %u columns of products, microseconds\n%-8s %-6s %11s %11s %8s\n", breadth, "n", "depth",
                "one GPU", "all GPUs", "times");
    for (unsigned n : sizes(bench.options)) {
        for (std::size_t k = 0; k < std::size(depths); k++, i++) {
            double times = one.at(i) / all[i];
            const char *paper = n == 256 ? paper_at_256[k] : "";
            std::printf("%-8u %-6u %11.1f %11.1f %8.3f   %s\n", n, depths[k], one[i] * 1e6, all[i] * 1e6, times, paper);
            bench.report.record("gpus2/" + std::to_string(n) + "-depth" + std::to_string(depths[k]), times,
                                "times as fast", "the first GPU alone");
            lowest = i ? std::min(lowest, times) : times;
        }
        double at_end = one.at(i - 1) / all[i - 1];
        deepest = deepest > 0 ? std::min(deepest, at_end) : at_end;
    }
    const double migrated = found.moved ? static_cast<double>(found.migrated) / static_cast<double>(found.moved) : 0;
    std::printf("blocks that came from the other GPU, of all that were copied to one: %.2f %%\n", 100 * migrated);
    bench.report.record("gpus2/depth6", deepest, "times as fast", "the first GPU alone; the lower of the sizes");
    bench.report.record("gpus2/lowest", lowest, "times as fast", "the first GPU alone; the lowest of all");
    bench.report.record("gpus2/migrated", migrated, "of the blocks", "blocks that were copied to a GPU");
}

/* At the largest depth. */
void compare_modes(const Bench &bench, const std::vector<double> &one)
{
    constexpr std::pair<const char *, ptask::Mode> others[] = {{"priority", ptask::Mode::priority},
                                                               {"fifo", ptask::Mode::fifo},
                                                               {"first-available", ptask::Mode::first_available}};
    const unsigned deepest[] = {std::end(depths)[-1]};
    for (auto &[name, mode] : others) {
        const Found found = measure(bench, mode, deepest);
        for (std::size_t i = 0; i < found.times.size(); i++) {
            const unsigned n = sizes(bench.options)[i];
            const double times = one.at((i + 1) * std::size(depths) - 1) / found.times[i];
            std::printf("%-8u %-6u %-23s %8.3f\n", n, deepest[0], name, times);
            bench.report.record("gpus2/" + std::to_string(n) + "-" + name, times, "times as fast",
                                "the first GPU alone");
        }
    }
}

} // namespace

void print_graph_times(const Bench &bench)
{
    for (double time : measure(bench, ptask::Mode::data_aware, depths).times)
        std::printf("%.9f\n", time);
}

void two_gpus(const Bench &bench)
{
    if (!bench.options.wants("gpus2"))
        return;
    if (device::gpus().size() < 2) {
        std::printf("\nFig. 12 needs two GPUs\n");
        return;
    }
    try {
        const Found all = measure(bench, ptask::Mode::data_aware, depths);
        const auto one = times_on_one(bench.options);
        compare(bench, all, one);
        compare_modes(bench, one);
    } catch (const Error &error) {
        bench.report.fail(std::string("two GPUs: ") + error.what());
    }
}

} // namespace ptsched::paper
