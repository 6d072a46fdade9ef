// SPDX-License-Identifier: MIT
/* A x B x C: many products in a row, and one at a time. */
#include "samples/ptask/paper/bench/bench.hpp"
#include "samples/ptask/paper/programs.hpp"

#include <algorithm>
#include <cstdio>

namespace ptsched::paper {

namespace {

constexpr double seconds_for_each = 0.3;

const std::vector<Variant> &ways()
{
    static const std::vector<Variant> all{
        {"streams",
         [](const Gpu &gpu, const Workload &w, unsigned count) { return make_best(gpu, w, count, Means::streams); }},
        {"graph",
         [](const Gpu &gpu, const Workload &w, unsigned count) { return make_best(gpu, w, count, Means::graph); }},
        variants().back(),
    };
    return all;
}

/* What others need, in microseconds, as measured on an H200 with n = 64. */
const char *others(bool resident, bool pipelined)
{
    if (resident)
        return pipelined ? "streams 7.1, graph 6.5, CUDASTF 11.0, StarPU 27 to 30" : "streams 13.5, graph 10.7";
    return pipelined ? "streams 29.2, graph 30.4, CUDASTF 36.9, Taskflow 28.4, StarPU 43" : "streams 39.9, graph 35.5";
}

/* Times for each chain; empty if a variant failed. */
std::vector<double> measure(const Bench &bench, unsigned n, bool resident, unsigned count)
{
    Checked checked(chain(n, resident));
    const std::string &name = checked.workload().name;
    say_progress(name);
    const std::vector<double> times = bench.times(checked, ways(), count, seconds_for_each);
    if (times.empty())
        return {};
    std::printf("%-20s %-10s %9.2f %9.2f %9.2f %8.3f   %s\n", name.c_str(), count > 1 ? "pipelined" : "each",
                times[0] * 1e6, times[1] * 1e6, times[2] * 1e6, std::min(times[0], times[1]) / times[2],
                n == 64 ? others(resident, count > 1) : "");
    std::fflush(stdout);
    return times;
}

void record(const Bench &bench, const std::string &name, const std::vector<double> &times, const char *against)
{
    bench.report.record(name + "_us", times[2] * 1e6, "us for each chain", against);
    bench.report.record(name + "_streams_us", times[0] * 1e6, "us for each chain", "the same run");
    bench.report.record(name + "_graph_us", times[1] * 1e6, "us for each chain", "the same run");
}

} // namespace

void chains(const Bench &bench)
{
    const std::vector<unsigned> sizes = bench.options.size ? std::vector{bench.options.size} : std::vector{64u, 1024u};
    bool said = false;

    for (unsigned n : sizes) {
        std::string name = "chain" + std::to_string(n);
        std::vector<double> ratios;
        for (bool resident : {true, false}) {
            std::string what = name + (resident ? "/nocopy" : "/copies");
            if (!bench.options.wants(what))
                continue;
            if (!said)
                std::printf("\nA x B x C: microseconds for each chain\n%-20s %-10s %9s %9s %9s %8s\n", "", "",
                            "streams", "graph", "ptask", "by hand/ptask");
            said = true;
            unsigned many = bench.options.iterations ? 20 : n >= 512 ? 48 : 500;
            if (auto times = measure(bench, n, resident, many); !times.empty()) {
                record(bench, what, times, n == 64 ? others(resident, true) : "by hand in the same run");
                ratios.push_back(std::min(times[0], times[1]) / times[2]);
            }
            if (auto times = measure(bench, n, resident, 1); !times.empty())
                record(bench, what + "-each", times, n == 64 ? others(resident, false) : "by hand in the same run");
        }
        if (!ratios.empty())
            bench.report.record(
                name + "/against-hand", *std::min_element(ratios.begin(), ratios.end()), "times as fast",
                "streams or a graph by hand, the faster, pipelined; the lower of with and without copies");
    }
}

} // namespace ptsched::paper
