// SPDX-License-Identifier: MIT
/* Fig. 12: columns of products that have nothing to do with each other, on all GPUs and on the first. */
#include "samples/ptask/paper/bench/bench.hpp"
#include "samples/ptask/paper/bench/child.hpp"
#include "samples/ptask/paper/programs.hpp"

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

/* That begin at once, for some hundredths of a second, of which its beginning and end are a small part. */
unsigned runs_of(const Options &options, unsigned n)
{
    return options.iterations ? 4 : n >= large ? 16 : 128;
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
            found.times.push_back(bench.times({executor.get()}, runs_of(bench.options, n), seconds_for_each)[0]);
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

/* The columns, divided among the GPUs. */
std::vector<Workload> parts_by_hand(unsigned depth, unsigned n)
{
    const auto gpus = static_cast<unsigned>(std::min<std::size_t>(device::gpus().size(), breadth));
    std::vector<Workload> parts;
    for (unsigned i = 0; i < gpus; i++)
        parts.push_back(rectangle(Matrices::multiply, depth, breadth / gpus + (i < breadth % gpus), n));
    return parts;
}

void check_parts(const std::vector<Workload> &parts, Executor &executor)
{
    Workload all = parts.front();
    all.expected = [&parts](unsigned set) {
        std::vector<Content> expected;
        for (const Workload &part : parts)
            for (Content &content : part.expected(set))
                expected.push_back(std::move(content));
        return expected;
    };
    Checked(std::move(all)).check(executor, "by hand on all GPUs");
}

/* Seconds of a run by hand, for each size and depth. */
struct ByHand {
    std::vector<double> one, all;
};

ByHand measure_by_hand(const Bench &bench)
{
    ByHand found;
    for (unsigned n : sizes(bench.options))
        for (unsigned depth : depths) {
            const unsigned count = runs_of(bench.options, n);
            const Workload whole = rectangle(Matrices::multiply, depth, breadth, n);
            const std::vector<Workload> parts = parts_by_hand(depth, n);
            say_progress("by hand: products in columns of " + std::to_string(depth) + ", n = " + std::to_string(n));
            auto all = make_best_on_gpus(bench.gpu.module_path(), parts, count);
            auto one = make_best(bench.gpu, whole, count);
            say_progress("one GPU: " + one->choice() + "; all: " + all->choice());
            const std::vector<double> times = bench.times({one.get(), all.get()}, count, seconds_for_each);
            found.one.push_back(times[0]);
            found.all.push_back(times[1]);
            if (n < large)
                check_parts(parts, *all);
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

void compare(const Bench &bench, const Found &found, const std::vector<double> &one, const ByHand &hand)
{
    const std::vector<double> &all = found.times;
    double deepest = 0, lowest = 0, against_hand = 0;
    std::size_t i = 0;

    std::printf("\nFig. 12: %u columns of products, microseconds\n%-15s %34s %34s\n", breadth, "", "by hand", "ptask");
    std::printf("%-8s %-6s %11s %11s %8s   %11s %11s %8s %9s\n", "n", "depth", "one GPU", "all GPUs", "times",
                "one GPU", "all GPUs", "times", "by hand/");
    for (unsigned n : sizes(bench.options)) {
        for (std::size_t k = 0; k < std::size(depths); k++, i++) {
            const double times = one.at(i) / all[i], by_hand = hand.all[i] / all[i];
            const char *paper = n == 256 ? paper_at_256[k] : "";
            const std::string name = "gpus2/" + std::to_string(n) + "-depth" + std::to_string(depths[k]);
            std::printf("%-8u %-6u %11.1f %11.1f %8.3f   %11.1f %11.1f %8.3f %9.3f   %s\n", n, depths[k],
                        hand.one[i] * 1e6, hand.all[i] * 1e6, hand.one[i] / hand.all[i], one[i] * 1e6, all[i] * 1e6,
                        times, by_hand, paper);
            bench.report.record(name, times, "times as fast", "the first GPU alone");
            bench.report.record(name + "-hand", hand.one[i] / hand.all[i], "times as fast",
                                "the first GPU alone, both by hand");
            lowest = i ? std::min(lowest, times) : times;
            against_hand = i ? std::min(against_hand, by_hand) : by_hand;
        }
        double at_end = one.at(i - 1) / all[i - 1];
        deepest = deepest > 0 ? std::min(deepest, at_end) : at_end;
    }
    const double migrated = found.moved ? static_cast<double>(found.migrated) / static_cast<double>(found.moved) : 0;
    std::printf("blocks that came from the other GPU, of all that were copied to one: %.2f %%\n", 100 * migrated);
    bench.report.record("gpus2/depth6", deepest, "times as fast", "the first GPU alone; the lower of the sizes");
    bench.report.record("gpus2/lowest", lowest, "times as fast", "the first GPU alone; the lowest of all");
    bench.report.record("gpus2/against-hand", against_hand, "times as fast", "all GPUs by hand; the lowest of all");
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
        compare(bench, all, one, measure_by_hand(bench));
        compare_modes(bench, one);
    } catch (const Error &error) {
        bench.report.fail(std::string("two GPUs: ") + error.what());
    }
}

} // namespace ptsched::paper
