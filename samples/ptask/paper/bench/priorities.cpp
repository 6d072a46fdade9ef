// SPDX-License-Identifier: MIT
// Fig. 13: four programs of 36 ptasks that share a GPU, with priorities 2, 4, 6 and 8, and as they come.
#include "bench.hpp"
#include "programs.hpp"
#include "ptask_program.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
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

/* Keeps a program in a graph busy until the graph is stopped. */
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

/* Invocations of each program's tasks in a second. */
std::vector<double> rates(const Bench &bench, const Workload &workload, bool with_priorities)
{
    ptask::GraphOptions options;
    options.mode = with_priorities ? ptask::Mode::priority : ptask::Mode::fifo;
    ptask::Graph graph(options);
    std::vector<std::unique_ptr<PtaskProgram>> programs;
    for (int priority : priorities_of_the_paper) {
        std::string prefix = std::to_string(priority) + "/";
        programs.push_back(std::make_unique<PtaskProgram>(graph, bench.gpu.module_path(), workload, prefix));
        programs.back()->push_constants();
        if (with_priorities)
            programs.back()->set_priority(priority);
    }
    graph.run();

    std::vector<std::unique_ptr<Feeder>> feeders;
    for (auto &program : programs)
        feeders.push_back(std::make_unique<Feeder>(*program));
    auto counts = [&] {
        std::vector<double> found;
        for (auto &program : programs)
            found.push_back(static_cast<double>(program->completed()));
        return found;
    };
    auto check = [&] {
        for (auto &feeder : feeders)
            if (feeder->failed())
                throw Error("the graph failed");
    };
    struct Stop {
        ptask::Graph &graph;
        ~Stop() { graph.stop(); }
    } stop{graph}; /* before the feeders end, whatever happens */

    auto start = Clock::now();
    std::vector<double> before(programs.size());
    if (bench.options.iterations) {
        while (programs.back()->completed() < bench.options.iterations * workload.steps.size()) {
            check();
            std::this_thread::yield();
        }
    } else {
        std::this_thread::sleep_for(warm_up);
        start = Clock::now();
        before = counts();
        std::this_thread::sleep_for(std::chrono::duration<double>(bench.options.seconds(2)));
    }
    auto after = counts();
    double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    check();
    for (std::size_t i = 0; i < after.size(); i++)
        after[i] = (after[i] - before[i]) / seconds;
    return after;
}

} // namespace

void priorities(const Bench &bench)
{
    if (!bench.options.wants("prio"))
        return;
    try {
        Workload workload =
            rectangle(Matrices::multiply, rows, columns, bench.options.size ? bench.options.size : side);
        say_progress("four programs of 36 ptasks, as they come");
        auto fifo = rates(bench, workload, false);
        say_progress("four programs of 36 ptasks, with priorities");
        auto ordered = rates(bench, workload, true);
        double fifo_total = std::accumulate(fifo.begin(), fifo.end(), 0.0);
        double total = std::accumulate(ordered.begin(), ordered.end(), 0.0);

        const int sum = std::accumulate(std::begin(priorities_of_the_paper), std::end(priorities_of_the_paper), 0);
        double furthest = 0;

        std::printf("\nFig. 13: four graphs of 36 ptasks, thousand invocations per second and shares of the total\n");
        std::printf("%-10s %10s %8s %10s %8s %8s   %s\n", "priority", "fifo", "share", "priority", "share", "linear",
                    "paper's share");
        for (std::size_t i = 0; i < ordered.size(); i++) {
            const double linear = static_cast<double>(priorities_of_the_paper[i]) / sum;
            furthest = std::max(furthest, std::abs(ordered[i] / total / linear - 1));
            std::printf("%-10d %10.1f %8.3f %10.1f %8.3f %8.3f   %.3f\n", priorities_of_the_paper[i], fifo[i] / 1e3,
                        fifo[i] / fifo_total, ordered[i] / 1e3, ordered[i] / total, linear, paper_rates[i] / 3840);
            std::string name = "prio/" + std::to_string(priorities_of_the_paper[i]);
            bench.report.record(name + "_per_s", ordered[i], "invocations/s", "paper 630, 780, 955, 1475");
            bench.report.record(name + "-fifo_per_s", fifo[i], "invocations/s", "paper 955 each");
        }
        std::printf("%-10s %10.1f %8s %10.1f   total over fifo %.3f; furthest from linear %.1f %%\n", "all",
                    fifo_total / 1e3, "", total / 1e3, total / fifo_total, 100 * furthest);
        bench.report.record("prio/total-over-fifo", total / fifo_total, "ratio", "the same graphs in mode fifo");
        bench.report.record("prio/furthest-from-linear", furthest, "ratio", "shares that are as the priorities");
    } catch (const Error &error) {
        bench.report.fail(std::string("priorities: ") + error.what());
    }
}

} // namespace ptsched::paper
