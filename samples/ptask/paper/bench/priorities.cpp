// SPDX-License-Identifier: MIT
// Fig. 13: four graphs of 36 ptasks that share a GPU, with priorities 2, 4, 6 and 8, and as they come.
#include "bench.hpp"
#include "programs.hpp"
#include "ptask_program.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <thread>

namespace ptsched::paper {

namespace {

using Clock = std::chrono::steady_clock;
/* Matrices so large that the GPU is what the programs share, and not the processors that give it work. */
constexpr unsigned columns = 6, rows = 6, side = 512;
constexpr int priorities_of_the_paper[] = {2, 4, 6, 8};
constexpr double paper_rates[] = {630, 780, 955, 1475};
constexpr std::chrono::duration<double> warm_up{0.3};
/* With and without priorities in turns: the clocks of a GPU change. */
constexpr std::size_t turns = 4;
constexpr double seconds_for_each = 0.7;

/* Keeps a graph busy until it is stopped. */
class Feeder {
public:
    explicit Feeder(PtaskProgram &program) : program_(program), thread_(&Feeder::work, this) {}
    ~Feeder() { thread_.join(); }
    Feeder(const Feeder &) = delete;
    Feeder &operator=(const Feeder &) = delete;
    bool failed() const { return failed_; }

private:
    void work()
    {
        try {
            auto blocks = program_.make_blocks(0);
            for (unsigned inside = 0;; inside++) {
                if (inside == PtaskProgram::most_inside) {
                    if (program_.pull().empty())
                        return;
                    inside--;
                }
                if (!program_.push(blocks))
                    return;
            }
        } catch (const Error &error) {
            std::fprintf(stderr, "bench-ptask: %s\n", error.what());
            failed_ = true;
        }
    }

    PtaskProgram &program_;
    std::atomic<bool> failed_{false};
    std::thread thread_;
};

/* Of each graph. */
using Rates = std::vector<double>;

double total(const Rates &rates)
{
    return std::accumulate(rates.begin(), rates.end(), 0.0);
}

/* The four graphs, busy. */
class Contest {
public:
    Contest(const Bench &bench, const Workload &workload, bool with_priorities);
    /* Before the feeders end. */
    ~Contest();
    Contest(const Contest &) = delete;
    Contest &operator=(const Contest &) = delete;
    /* Until the last one has completed so many invocations. */
    void wait_for(std::uint64_t invocations) const;
    /* Invocations of its tasks in a second, as long as @pass takes. */
    Rates rates(const std::function<void()> &pass) const;

private:
    Rates counts() const;
    void check() const;

    std::vector<std::unique_ptr<ptask::Graph>> graphs_;
    std::vector<std::unique_ptr<PtaskProgram>> programs_;
    std::vector<std::unique_ptr<Feeder>> feeders_;
};

Contest::Contest(const Bench &bench, const Workload &workload, bool with_priorities)
{
    ptask::GraphOptions options;
    options.mode = with_priorities ? ptask::Mode::priority : ptask::Mode::fifo;
    for (int priority : priorities_of_the_paper) {
        ptask::Graph &graph = *graphs_.emplace_back(std::make_unique<ptask::Graph>(options));
        auto &program =
            *programs_.emplace_back(std::make_unique<PtaskProgram>(graph, bench.gpu.module_path(), workload));
        program.push_constants();
        if (with_priorities)
            program.set_priority(priority);
        graph.run();
    }
    for (auto &program : programs_)
        feeders_.push_back(std::make_unique<Feeder>(*program));
}

Contest::~Contest()
{
    for (auto &graph : graphs_)
        graph->stop();
}

void Contest::check() const
{
    for (auto &feeder : feeders_)
        if (feeder->failed())
            throw Error("a graph failed");
}

Rates Contest::counts() const
{
    Rates found;
    for (auto &program : programs_)
        found.push_back(static_cast<double>(program->completed()));
    return found;
}

void Contest::wait_for(std::uint64_t invocations) const
{
    while (programs_.back()->completed() < invocations) {
        check();
        std::this_thread::yield();
    }
}

Rates Contest::rates(const std::function<void()> &pass) const
{
    const auto start = Clock::now();
    const Rates before = counts();
    pass();
    Rates after = counts();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    check();
    for (std::size_t i = 0; i < after.size(); i++)
        after[i] = (after[i] - before[i]) / seconds;
    return after;
}

Rates rates(const Bench &bench, const Workload &workload, bool with_priorities)
{
    say_progress(std::string("four graphs of 36 ptasks, ") + (with_priorities ? "with priorities" : "as they come"));
    Contest contest(bench, workload, with_priorities);
    if (bench.options.iterations)
        return contest.rates([&] { contest.wait_for(bench.options.iterations * workload.steps.size()); });
    std::this_thread::sleep_for(warm_up);
    const std::chrono::duration<double> time(bench.options.seconds(seconds_for_each));
    return contest.rates([&] { std::this_thread::sleep_for(time); });
}

void print(const Bench &bench, const Rates &fifo, const Rates &ordered)
{
    const int sum = std::accumulate(std::begin(priorities_of_the_paper), std::end(priorities_of_the_paper), 0);
    const double over_fifo = total(ordered) / total(fifo);
    double furthest = 0;

    std::printf("\nFig. 13: four graphs of 36 ptasks, thousand invocations per second and shares of the total\n");
    std::printf("%-10s %10s %8s %10s %8s %8s   %s\n", "priority", "fifo", "share", "priority", "share", "linear",
                "paper's share");
    for (std::size_t i = 0; i < ordered.size(); i++) {
        const double linear = static_cast<double>(priorities_of_the_paper[i]) / sum,
                     share = ordered[i] / total(ordered);
        furthest = std::max(furthest, std::abs(share / linear - 1));
        std::printf("%-10d %10.1f %8.3f %10.1f %8.3f %8.3f   %.3f\n", priorities_of_the_paper[i], fifo[i] / 1e3,
                    fifo[i] / total(fifo), ordered[i] / 1e3, share, linear, paper_rates[i] / 3840);
        std::string name = "prio/" + std::to_string(priorities_of_the_paper[i]);
        bench.report.record(name + "_per_s", ordered[i], "invocations/s", "paper 630, 780, 955, 1475");
        bench.report.record(name + "-fifo_per_s", fifo[i], "invocations/s", "paper 955 each");
    }
    std::printf("%-10s %10.1f %8s %10.1f   total over fifo %.3f; furthest from linear %.1f %%\n", "all",
                total(fifo) / 1e3, "", total(ordered) / 1e3, over_fifo, 100 * furthest);
    bench.report.record("prio/total-over-fifo", over_fifo, "ratio", "the same graphs in mode fifo");
    bench.report.record("prio/furthest-from-linear", furthest, "ratio", "shares that are as the priorities");
}

} // namespace

void priorities(const Bench &bench)
{
    if (!bench.options.wants("prio"))
        return;
    try {
        const Workload workload =
            rectangle(Matrices::multiply, rows, columns, bench.options.size ? bench.options.size : side);
        const std::size_t turns_of_each = bench.options.iterations ? 1 : turns;
        Rates means[2];
        for (bool with_priorities : {false, true})
            means[with_priorities].resize(std::size(priorities_of_the_paper));
        for (std::size_t turn = 0; turn < turns_of_each; turn++)
            for (bool with_priorities : {false, true}) {
                const Rates found = rates(bench, workload, with_priorities);
                for (std::size_t i = 0; i < found.size(); i++)
                    means[with_priorities][i] += found[i] / static_cast<double>(turns_of_each);
            }
        print(bench, means[false], means[true]);
    } catch (const Error &error) {
        bench.report.fail(std::string("priorities: ") + error.what());
    }
}

} // namespace ptsched::paper
