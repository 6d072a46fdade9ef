// SPDX-License-Identifier: MIT
/* Fig. 13: four graphs of 36 ptasks that share a GPU, with priorities 2, 4, 6 and 8, and as they come. */
#include "samples/ptask/paper/bench/contest.hpp"
#include "samples/ptask/paper/programs.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <thread>

namespace ptsched::paper {

namespace {

/* Matrices so large that the GPU is what the programs share, and not the processors that give it work. */
constexpr unsigned columns = 6, rows = 6, side = 512;
const std::vector<int> priorities_of_the_paper{2, 4, 6, 8};
constexpr double paper_rates[] = {630, 780, 955, 1475};
constexpr std::chrono::duration<double> warm_up{0.3};
/* All kinds of contest in turns: the clocks of a GPU change. */
constexpr std::size_t turns = 4;
constexpr double seconds_for_each = 0.7;

double total(const Rates &rates)
{
    return std::accumulate(rates.begin(), rates.end(), 0.0);
}

/* That each would have of the total if these were as the priorities. */
double linear_share(std::size_t i)
{
    const int sum = std::accumulate(priorities_of_the_paper.begin(), priorities_of_the_paper.end(), 0);
    return static_cast<double>(priorities_of_the_paper[i]) / sum;
}

struct Kind {
    const char *name;
    decltype(&contest_of_graphs) make;
    bool with_priorities;
};

enum { fifo, ordered, streams, streams_in_order };
constexpr Kind kinds[] = {{"four graphs of 36 ptasks, as they come", contest_of_graphs, false},
                          {"four graphs of 36 ptasks, with priorities", contest_of_graphs, true},
                          {"four programs by hand, in streams", contest_by_hand, false},
                          {"four programs by hand, in streams with priorities", contest_by_hand, true}};

Rates rates(const Bench &bench, const Workload &workload, const Kind &kind)
{
    say_progress(kind.name);
    const auto contest = kind.make(bench, workload, priorities_of_the_paper, kind.with_priorities);
    if (bench.options.iterations)
        return contest->rates([&] { contest->wait_for(bench.options.iterations * workload.steps.size()); });
    std::this_thread::sleep_for(warm_up);
    const std::chrono::duration<double> time(bench.options.seconds(seconds_for_each));
    return contest->rates([&] { std::this_thread::sleep_for(time); });
}

/* By kind. */
std::vector<Rates> mean_rates(const Bench &bench, const Workload &workload)
{
    const std::size_t turns_of_each = bench.options.iterations ? 1 : turns;
    std::vector<Rates> means(std::size(kinds), Rates(priorities_of_the_paper.size()));
    for (std::size_t turn = 0; turn < turns_of_each; turn++)
        for (std::size_t kind = 0; kind < means.size(); kind++) {
            const Rates found = rates(bench, workload, kinds[kind]);
            for (std::size_t i = 0; i < found.size(); i++)
                means[kind][i] += found[i] / static_cast<double>(turns_of_each);
        }
    return means;
}

void print(const std::vector<Rates> &means)
{
    std::printf("\nFig. 13: four programs of 36 steps, thousand of these per second and shares of the total\n");
    std::printf("%-10s %17s %17s %8s %13s   %17s %17s\n", "", "graphs, fifo", "with priorities", "linear",
                "paper's share", "by hand, streams", "with priorities");
    for (std::size_t i = 0; i < priorities_of_the_paper.size(); i++) {
        std::printf("%-10d", priorities_of_the_paper[i]);
        for (std::size_t kind = 0; kind < means.size(); kind++) {
            std::printf(" %9.1f %7.3f", means[kind][i] / 1e3, means[kind][i] / total(means[kind]));
            if (kind == ordered)
                std::printf(" %8.3f %13.3f  ", linear_share(i), paper_rates[i] / 3840);
        }
        std::printf("\n");
    }
    std::printf("%-10s", "all");
    for (std::size_t kind = 0; kind < means.size(); kind++)
        std::printf(" %9.1f %7s%s", total(means[kind]) / 1e3, "", kind == ordered ? "                         " : "");
    std::printf("\n");
}

/* How far a share is from that, of itself, at most. */
double furthest_from_linear(const Rates &rates)
{
    double furthest = 0;
    for (std::size_t i = 0; i < rates.size(); i++)
        furthest = std::max(furthest, std::abs(rates[i] / total(rates) / linear_share(i) - 1));
    return furthest;
}

void record(const Bench &bench, const std::vector<Rates> &means)
{
    const double over_fifo = total(means[ordered]) / total(means[fifo]);
    const double against_hand = total(means[fifo]) / total(means[streams]);
    const double furthest = furthest_from_linear(means[ordered]),
                 furthest_by_hand = furthest_from_linear(means[streams_in_order]);
    for (std::size_t i = 0; i < priorities_of_the_paper.size(); i++) {
        const std::string name = "prio/" + std::to_string(priorities_of_the_paper[i]);
        bench.report.record(name + "_per_s", means[ordered][i], "invocations/s", "paper 630, 780, 955, 1475");
        bench.report.record(name + "-fifo_per_s", means[fifo][i], "invocations/s", "paper 955 each");
        bench.report.record(name + "-hand_per_s", means[streams_in_order][i], "steps/s", "by hand, with priorities");
        bench.report.record(name + "-hand-streams_per_s", means[streams][i], "steps/s", "by hand");
    }
    std::printf("total over fifo %.3f; fifo over streams by hand %.3f; furthest from linear %.1f %%, by hand %.1f %%\n",
                over_fifo, against_hand, 100 * furthest, 100 * furthest_by_hand);
    bench.report.record("prio/total-over-fifo", over_fifo, "ratio", "the same graphs in mode fifo");
    bench.report.record("prio/against-hand", against_hand, "ratio", "fifo against streams by hand, totals");
    bench.report.record("prio/furthest-from-linear", furthest, "ratio", "shares that are as the priorities");
    bench.report.record("prio/furthest-from-linear-hand", furthest_by_hand, "ratio", "the same by hand");
}

} // namespace

void priorities(const Bench &bench)
{
    if (!bench.options.wants("prio"))
        return;
    try {
        const Workload workload =
            rectangle(Matrices::multiply, rows, columns, bench.options.size ? bench.options.size : side);
        const std::vector<Rates> means = mean_rates(bench, workload);
        print(means);
        record(bench, means);
    } catch (const Error &error) {
        bench.report.fail(std::string("priorities: ") + error.what());
    }
}

} // namespace ptsched::paper
