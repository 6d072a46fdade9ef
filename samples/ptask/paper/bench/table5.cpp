// SPDX-License-Identifier: MIT
/* Table 5 and Fig. 11: the time of one run, inputs on the host to results on the host. */
#include "samples/ptask/paper/bench/bench.hpp"
#include "samples/ptask/paper/programs.hpp"

#include <algorithm>
#include <cstdio>

namespace ptsched::paper {

namespace {

constexpr double seconds_for_each = 0.22;

struct Row {
    std::string name;
    std::function<Workload()> make;
};

/* The sizes of Fig. 11; of each program the middle one if it is to be quick. */
class Rows {
public:
    explicit Rows(const Options &options) : options_(options) {}

    template <typename Make> void add(const std::string &name, std::vector<std::size_t> sizes, Make make)
    {
        if (options_.quick)
            sizes = {sizes[sizes.size() / 2]};
        for (std::size_t size : sizes)
            rows.push_back({"table5/" + name + "/" + std::to_string(size), [=] { return make(size); }});
    }

    /* Those of n x n matrices. */
    template <typename Make> void add_matrices(const std::string &name, std::vector<std::size_t> sizes, Make make)
    {
        add(name, options_.size ? std::vector<std::size_t>{options_.size} : sizes, make);
    }

    std::vector<Row> rows;

private:
    const Options &options_;
};

std::vector<Row> all_rows(const Options &options)
{
    Rows rows(options);
    const std::vector<std::size_t> small{64, 128, 256}, large{256, 512, 1024};

    rows.add("sort", {128, 256, 512}, [](std::size_t n) { return bitonic_sort(static_cast<unsigned>(n)); });
    for (Matrices kind : {Matrices::multiply, Matrices::add, Matrices::copy}) {
        const auto &sizes = kind == Matrices::multiply ? small : large;
        rows.add_matrices(name_of(kind) + "-tree6x32", sizes, [=](std::size_t n) { return tree(kind, 6, n); });
        rows.add_matrices(name_of(kind) + "-rect6x10", sizes, [=](std::size_t n) { return rectangle(kind, 6, 10, n); });
    }
    for (unsigned length : {5, 10})
        rows.add("fdtd-len" + std::to_string(length), small,
                 [=](std::size_t n) { return cavity(length, static_cast<unsigned>(n), static_cast<unsigned>(n), 4); });
    for (unsigned iterations : {10, 54})
        rows.add_matrices("pca-" + std::to_string(iterations), {128, 256, 512},
                          [=](std::size_t n) { return components(n, iterations); });
    rows.add("grpby", {128, 256, 512},
             [](std::size_t keys) { return group_by(keys << 12, static_cast<unsigned>(keys)); });
    std::erase_if(rows.rows, [&](const Row &row) { return !options.wants(row.name); });
    return rows.rows;
}

/* How many times as fast ptask is, row by row. */
struct Ratios {
    std::vector<double> handcode, best, modular, threads, any_modular;
    std::string worst;
};

void add_ratios(Ratios &ratios, const std::vector<double> &t, const std::string &row)
{
    double ptask = t[4];
    ratios.handcode.push_back(t[0] / ptask);
    if (ratios.best.empty() || t[1] / ptask < *std::min_element(ratios.best.begin(), ratios.best.end()))
        ratios.worst = row;
    ratios.best.push_back(t[1] / ptask);
    ratios.modular.push_back(t[2] / ptask);
    ratios.threads.push_back(t[3] / ptask);
    ratios.any_modular.push_back(std::min(t[2], t[3]) / ptask);
}

/* The times of the variants in their order, empty if one failed. */
std::vector<double> measure(const Bench &bench, const Row &row)
{
    Checked checked(row.make());
    const std::vector<double> times = bench.times_of_variants(checked, 1, seconds_for_each);

    if (times.empty())
        return {};
    for (std::size_t i = 0; i < times.size(); i++)
        bench.report.record(row.name + "/" + variants()[i].name + "_us", times[i] * 1e6, "us");
    std::printf("%-32s %6zu", row.name.c_str(), checked.workload().steps.size());
    for (double time : times)
        std::printf(" %11.1f", time * 1e6);
    std::printf("   %6.2f %6.2f %6.2f %6.2f\n", times[0] / times[4], times[1] / times[4], times[2] / times[4],
                times[3] / times[4]);
    std::fflush(stdout);
    return times;
}

void summarise(const Bench &bench, const Ratios &ratios)
{
    auto say = [&](const char *name, double value, const char *goal, const char *against) {
        std::printf("%-32s %7.3f  %s\n", name, value, goal);
        bench.report.record(name, value, "times as fast", against);
    };
    say("table5/geomean-hand", geometric_mean(ratios.handcode), "paper 1.10", "handcode: one thread, waiting copies");
    say("table5/geomean-modular", geometric_mean(ratios.any_modular), "paper 1.93",
        "modular, with one thread or with several, row by row the faster");
    say("table5/geomean-modular-one-thread", geometric_mean(ratios.modular), "", "modular with one thread");
    say("table5/geomean-modular-threads", geometric_mean(ratios.threads), "paper 1.93", "modular with four threads");
    say("table5/geomean-best", geometric_mean(ratios.best), "",
        "best by hand: pinned memory, streams or a graph, row by row the fastest");
    say("table5/worst-hand", *std::min_element(ratios.best.begin(), ratios.best.end()), ("at " + ratios.worst).c_str(),
        ("best by hand, at " + ratios.worst).c_str());
}

} // namespace

void table5(const Bench &bench)
{
    Ratios ratios;
    auto rows = all_rows(bench.options);

    if (rows.empty())
        return;
    std::printf("\nTable 5: microseconds from inputs to results, and how many times as fast ptask is\n");
    std::printf("%-32s %6s %11s %11s %11s %11s %11s   %6s %6s %6s %6s\n", "", "ptasks", "handcode", "best", "modular",
                "threads", "ptask", "/hand", "/best", "/mod", "/thr");
    for (const Row &row : rows) {
        say_progress(row.name);
        if (auto times = measure(bench, row); !times.empty())
            add_ratios(ratios, times, row.name);
    }
    if (!ratios.best.empty())
        summarise(bench, ratios);
}

} // namespace ptsched::paper
