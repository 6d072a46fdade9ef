// SPDX-License-Identifier: MIT
/* A workload as a graph of ptasks, that one thread feeds and empties. */
#include "samples/ptask/paper/executor.hpp"
#include "samples/ptask/paper/ptask_program.hpp"

#include <deque>

namespace ptsched::paper {

namespace {

class PtaskExecutor final : public Executor {
public:
    PtaskExecutor(const std::string &module, const Workload &workload, const ptask::GraphOptions &options)
        : workload_(workload), graph_(options), program_(graph_, module, workload)
    {
        program_.push_constants();
        graph_.run();
        if (workload.inputs_stay)
            prepared_.push_back(program_.make_blocks(0));
    }

    void prepare(unsigned count) override
    {
        results_.clear();
        while (!workload_.inputs_stay && prepared_.size() < count)
            prepared_.push_back(program_.make_blocks(made_++ % workload_.sets));
    }

    void run(unsigned count) override
    {
        for (unsigned begun = 0, ended = 0; ended < count;) {
            if (begun < count && begun < ended + PtaskProgram::most_inside) {
                push_next();
                begun++;
            } else {
                results_ = program_.pull();
                if (!workload_.results_stay)
                    for (const auto &block : results_)
                        block->read();
                ended++;
            }
        }
        for (const auto &block : results_)
            block->wait();
        runs_ += count;
    }

    std::vector<Content> results() override
    {
        std::vector<Content> contents;
        for (const auto &block : results_) {
            auto values = block->as<std::uint32_t>();
            contents.emplace_back(values.begin(), values.end());
        }
        return contents;
    }

    std::vector<ptask::DeviceCounters> counters() const override { return graph_.counters(); }
    unsigned last_set() const override { return (runs_ - 1) % workload_.sets; }

private:
    void push_next()
    {
        program_.push(prepared_.front());
        if (!workload_.inputs_stay)
            prepared_.pop_front();
    }

    const Workload &workload_;
    ptask::Graph graph_;
    PtaskProgram program_;
    std::deque<PtaskProgram::Blocks> prepared_;
    PtaskProgram::Blocks results_;
    unsigned made_ = 0, runs_ = 0;
};

} // namespace

std::unique_ptr<Executor> make_ptask(const std::string &module, const Workload &workload,
                                     const ptask::GraphOptions &options)
{
    return std::make_unique<PtaskExecutor>(module, workload, options);
}

} // namespace ptsched::paper
