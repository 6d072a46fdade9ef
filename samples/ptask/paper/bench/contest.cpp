// SPDX-License-Identifier: MIT
#include "samples/ptask/paper/bench/contest.hpp"

#include "samples/ptask/paper/ptask_program.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

namespace ptsched::paper {

namespace {

using Clock = std::chrono::steady_clock;

/* Does so again and again in a thread of its own, until it says that it is over or fails. */
class Feeder {
public:
    explicit Feeder(std::function<void()> work) : work_(std::move(work)), thread_(&Feeder::run, this) {}
    ~Feeder() { thread_.join(); }
    Feeder(const Feeder &) = delete;
    Feeder &operator=(const Feeder &) = delete;
    bool failed() const { return failed_; }

private:
    void run()
    {
        try {
            work_();
        } catch (const Error &error) {
            std::fprintf(stderr, "bench-ptask: %s\n", error.what());
            failed_ = true;
        }
    }

    std::function<void()> work_;
    std::atomic<bool> failed_{false};
    std::thread thread_;
};

using Feeders = std::vector<std::unique_ptr<Feeder>>;

bool any_failed(const Feeders &feeders)
{
    return std::ranges::any_of(feeders, [](const auto &feeder) { return feeder->failed(); });
}

/* Keeps a graph busy until it is stopped. */
void feed(PtaskProgram &program)
{
    auto blocks = program.make_blocks(0);
    for (unsigned inside = 0;; inside++) {
        if (inside == PtaskProgram::most_inside) {
            if (program.pull().empty())
                return;
            inside--;
        }
        if (!program.push(blocks))
            return;
    }
}

class Graphs final : public Contest {
public:
    Graphs(const Bench &bench, const Workload &workload, const std::vector<int> &priorities, bool with_priorities)
    {
        ptask::GraphOptions options;
        options.mode = with_priorities ? ptask::Mode::priority : ptask::Mode::fifo;
        for (int priority : priorities) {
            ptask::Graph &graph = *graphs_.emplace_back(std::make_unique<ptask::Graph>(options));
            auto &program =
                *programs_.emplace_back(std::make_unique<PtaskProgram>(graph, bench.gpu.module_path(), workload));
            program.push_constants();
            if (with_priorities)
                program.set_priority(priority);
            graph.run();
        }
        for (auto &program : programs_)
            feeders_.push_back(std::make_unique<Feeder>([&program = *program] { feed(program); }));
    }

    /* Before the feeders end. */
    ~Graphs() override
    {
        for (auto &graph : graphs_)
            graph->stop();
    }

private:
    Rates counts() const override
    {
        Rates found;
        for (auto &program : programs_)
            found.push_back(static_cast<double>(program->completed()));
        return found;
    }

    bool failed() const override { return any_failed(feeders_); }

    std::vector<std::unique_ptr<ptask::Graph>> graphs_;
    std::vector<std::unique_ptr<PtaskProgram>> programs_;
    Feeders feeders_;
};

class ByHand final : public Contest {
public:
    ByHand(const Bench &bench, const Workload &workload, const std::vector<int> &priorities, bool with_priorities)
        : gpu_(bench.gpu), workload_(workload), completed_(priorities.size())
    {
        int least = 0, greatest = 0;
        workload_.inputs_stay = workload_.results_stay = true; /* as what is pushed again, and pulled but not read */
        paper::check(driver().stream_priorities(&least, &greatest), "cuCtxGetStreamPriorityRange");
        for (int priority : priorities) {
            const auto lower = std::ranges::count_if(priorities, [priority](int other) { return other < priority; });
            const int own = with_priorities ? std::max(least - static_cast<int>(lower), greatest) : least;
            executors_.push_back(make_best(gpu_, workload_, at_once, Means::streams, own));
        }
        for (std::size_t i = 0; i < executors_.size(); i++)
            feeders_.push_back(std::make_unique<Feeder>([this, i] { run(i); }));
    }

    ~ByHand() override { over_ = true; }

private:
    /* As many as a graph has inside. */
    static constexpr unsigned at_once = PtaskProgram::most_inside;

    void run(std::size_t i)
    {
        gpu_.enter();
        while (!over_) {
            executors_[i]->run(at_once);
            completed_[i] += at_once * workload_.steps.size();
        }
    }

    Rates counts() const override { return {completed_.begin(), completed_.end()}; }
    bool failed() const override { return any_failed(feeders_); }

    const Gpu &gpu_;
    Workload workload_;
    std::atomic<bool> over_{false};
    std::vector<std::atomic<std::uint64_t>> completed_;
    std::vector<std::unique_ptr<Executor>> executors_;
    Feeders feeders_;
};

} // namespace

void Contest::check() const
{
    if (failed())
        throw Error("a program failed");
}

void Contest::wait_for(std::uint64_t steps) const
{
    const double enough = counts().back() + static_cast<double>(steps);
    while (counts().back() < enough) {
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

std::unique_ptr<Contest> contest_of_graphs(const Bench &bench, const Workload &workload,
                                           const std::vector<int> &priorities, bool with_priorities)
{
    return std::make_unique<Graphs>(bench, workload, priorities, with_priorities);
}

std::unique_ptr<Contest> contest_by_hand(const Bench &bench, const Workload &workload,
                                         const std::vector<int> &priorities, bool with_priorities)
{
    return std::make_unique<ByHand>(bench, workload, priorities, with_priorities);
}

} // namespace ptsched::paper
