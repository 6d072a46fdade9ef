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
constexpr unsigned large = 512, depths[] = {1, 2, 4, 6}, deepest = 6;
/* Of 8 columns, n = 256, on two GPUs. */
constexpr const char *paper[] = {"paper 1.03", "paper 1.22", "paper 1.51", "paper 1.65"};

/* So many columns, of so many products each, of so large matrices. */
struct Shape {
    unsigned breadth, n, depth;

    std::string name() const
    {
        return std::to_string(n) + "-depth" + std::to_string(depth) +
               (breadth == 8 ? "" : "-breadth" + std::to_string(breadth));
    }
    Workload workload(unsigned columns) const { return rectangle(Matrices::multiply, depth, columns, n); }
};

std::vector<Shape> all_shapes(const Options &options)
{
    const std::vector<unsigned> sizes = options.size ? std::vector{options.size} : std::vector{256u, 1024u};
    std::vector<Shape> shapes;
    for (unsigned breadth : {8u, 16u})
        for (unsigned n : sizes)
            for (unsigned depth : depths)
                shapes.push_back({breadth, n, depth});
    return shapes;
}

/* That begin at once, for some hundredths of a second, of which its beginning and end are a small part. */
unsigned runs_of(const Options &options, unsigned n)
{
    return options.iterations ? 4 : n >= large ? 16 : 128;
}

/* Seconds of a run for each shape, and the blocks that moved for them. */
struct Found {
    std::vector<double> times;
    std::uint64_t moved = 0, migrated = 0;
};

Found measure(const Bench &bench, ptask::Mode mode, std::span<const Shape> shapes)
{
    Found found;
    for (const Shape &shape : shapes) {
        say_progress("products, " + std::to_string(shape.breadth) + " columns of " + std::to_string(shape.depth) +
                     ", n = " + std::to_string(shape.n));
        Checked checked(shape.workload(shape.breadth));
        auto executor = make_ptask(bench.gpu.module_path(), checked.workload(), {.mode = mode});
        found.times.push_back(bench.times({executor.get()}, runs_of(bench.options, shape.n), seconds_for_each)[0]);
        for (const ptask::DeviceCounters &device : executor->counters()) {
            found.moved += device.blocks_uploaded + device.blocks_migrated;
            found.migrated += device.blocks_migrated;
        }
        /* The host would take half a minute for the large ones. */
        if (shape.n < large)
            checked.check(*executor, "ptask");
    }
    return found;
}

/* The columns, divided among the GPUs. */
std::vector<Workload> parts_by_hand(const Shape &shape)
{
    const auto gpus = static_cast<unsigned>(std::min<std::size_t>(device::gpus().size(), shape.breadth));
    std::vector<Workload> parts;
    for (unsigned i = 0; i < gpus; i++)
        parts.push_back(shape.workload(shape.breadth / gpus + (i < shape.breadth % gpus)));
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

/* Seconds of a run by hand, for each shape. */
struct ByHand {
    std::vector<double> one, all;
};

ByHand measure_by_hand(const Bench &bench)
{
    ByHand found;
    for (const Shape &shape : all_shapes(bench.options)) {
        const unsigned count = runs_of(bench.options, shape.n);
        const Workload whole = shape.workload(shape.breadth);
        const std::vector<Workload> parts = parts_by_hand(shape);
        say_progress("by hand: " + shape.name());
        auto all = make_best_on_gpus(bench.gpu.module_path(), parts, count);
        auto one = make_best(bench.gpu, whole, count);
        say_progress("one GPU: " + one->choice() + "; all: " + all->choice());
        const std::vector<double> times = bench.times({one.get(), all.get()}, count, seconds_for_each);
        found.one.push_back(times[0]);
        found.all.push_back(times[1]);
        if (shape.n < large)
            check_parts(parts, *all);
    }
    return found;
}

/* The first @count of those that this process sees, as CUDA_VISIBLE_DEVICES has them. */
std::string first_gpus(std::size_t count)
{
    const char *visible = std::getenv("CUDA_VISIBLE_DEVICES");
    std::string names;
    if (!visible || !*visible) {
        for (std::size_t i = 0; i < count; i++)
            names += (i ? "," : "") + std::to_string(i);
        return names;
    }
    names = visible;
    std::size_t end = names.find(',');
    while (--count && end != std::string::npos)
        end = names.find(',', end + 1);
    return names.substr(0, end);
}

/* The same of a process that sees only so many. */
std::vector<double> times_on(const Options &options, std::size_t gpus)
{
    std::vector<std::string> words{"--graph-times", "--module", options.module};

    if (options.iterations)
        words.insert(words.end(), {"--iterations", std::to_string(options.iterations)});
    if (options.size)
        words.insert(words.end(), {"--size", std::to_string(options.size)});
    if (options.quick)
        words.push_back("--quick");
    say_progress("with " + std::to_string(gpus) + " of the GPUs");
    return numbers_of_child(words, {{"CUDA_VISIBLE_DEVICES", first_gpus(gpus)}});
}

/* "gpus4/", for what this host has. */
std::string prefix()
{
    return "gpus" + std::to_string(device::gpus().size()) + "/";
}

/* @fewer: with one GPU, with two and so on, but for all. */
void compare(const Bench &bench, const Found &found, const std::vector<std::vector<double>> &fewer, const ByHand &hand)
{
    const std::vector<Shape> shapes = all_shapes(bench.options);
    const std::vector<double> &one = fewer.front(), &all = found.times;
    std::vector<double> at_depth, times, against_hand;

    std::printf("\nFig. 12: columns of products, microseconds on one GPU, and how much faster on more\n");
    std::printf("%-26s %11s %11s %8s   %11s  %s\n", "", "by hand: 1", "all", "times", "ptask: 1", "times on more");
    for (std::size_t i = 0; i < shapes.size(); i++) {
        const std::string name = prefix() + shapes[i].name();
        times.push_back(one.at(i) / all[i]);
        against_hand.push_back(hand.all[i] / all[i]);
        if (shapes[i].depth == deepest)
            at_depth.push_back(times.back());
        std::printf("%-26s %11.1f %11.1f %8.3f   %11.1f ", name.c_str(), hand.one[i] * 1e6, hand.all[i] * 1e6,
                    hand.one[i] / hand.all[i], one[i] * 1e6);
        for (std::size_t k = 1; k < fewer.size(); k++) {
            std::printf(" %7.3f", one[i] / fewer[k].at(i));
            bench.report.record(name + "-on" + std::to_string(k + 1), one[i] / fewer[k][i], "times as fast",
                                "the first GPU alone");
        }
        std::printf(" %7.3f  %s\n", times.back(), i < std::size(paper) && shapes[i].n == 256 ? paper[i] : "");
        bench.report.record(name, times.back(), "times as fast", "the first GPU alone");
        bench.report.record(name + "-hand", hand.one[i] / hand.all[i], "times as fast",
                            "the first GPU alone, both by hand");
    }
    const double migrated = found.moved ? static_cast<double>(found.migrated) / static_cast<double>(found.moved) : 0;
    std::printf("blocks that came from another GPU, of all that were copied to one: %.2f %%\n", 100 * migrated);
    bench.report.record(prefix() + "depth6", std::ranges::min(at_depth), "times as fast",
                        "the first GPU alone; the lowest of the shapes");
    bench.report.record(prefix() + "lowest", std::ranges::min(times), "times as fast",
                        "the first GPU alone; the lowest of all");
    bench.report.record(prefix() + "against-hand", std::ranges::min(against_hand), "times as fast",
                        "all GPUs by hand; the lowest of all");
    bench.report.record(prefix() + "migrated", migrated, "of the blocks", "blocks that were copied to a GPU");
}

/* At the largest depth. */
void compare_modes(const Bench &bench, const std::vector<double> &one)
{
    constexpr std::pair<const char *, ptask::Mode> others[] = {{"priority", ptask::Mode::priority},
                                                               {"fifo", ptask::Mode::fifo},
                                                               {"first-available", ptask::Mode::first_available}};
    const std::vector<Shape> shapes = all_shapes(bench.options);
    for (auto &[name, mode] : others)
        for (std::size_t i = 0; i < shapes.size(); i++) {
            if (shapes[i].depth != deepest)
                continue;
            const double times = one.at(i) / measure(bench, mode, {&shapes[i], 1}).times[0];
            std::printf("%-26s %-16s %8.3f\n", (prefix() + shapes[i].name()).c_str(), name, times);
            bench.report.record(prefix() + shapes[i].name() + "-" + name, times, "times as fast",
                                "the first GPU alone");
        }
}

} // namespace

void print_graph_times(const Bench &bench)
{
    for (double time : measure(bench, ptask::Mode::data_aware, all_shapes(bench.options)).times)
        std::printf("%.9f\n", time);
}

void several_gpus(const Bench &bench)
{
    if (!bench.options.wants("gpus"))
        return;
    if (device::gpus().size() < 2) {
        std::printf("\nFig. 12 needs two GPUs or more\n");
        return;
    }
    try {
        const Found all = measure(bench, ptask::Mode::data_aware, all_shapes(bench.options));
        std::vector<std::vector<double>> fewer;
        for (std::size_t count = 1; count < device::gpus().size(); count++)
            fewer.push_back(times_on(bench.options, count));
        compare(bench, all, fewer, measure_by_hand(bench));
        compare_modes(bench, fewer.front());
    } catch (const Error &error) {
        bench.report.fail(std::string("several GPUs: ") + error.what());
    }
}

} // namespace ptsched::paper
