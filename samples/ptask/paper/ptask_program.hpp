/* SPDX-License-Identifier: MIT */
/* A workload as a part of a ptask graph. */
#ifndef PTSCHED_PAPER_PTASK_PROGRAM_HPP
#define PTSCHED_PAPER_PTASK_PROGRAM_HPP

#include "samples/ptask/paper/workload.hpp"
#include <ptsched/ptask/graph.hpp>

namespace ptsched::paper {

class PtaskProgram {
public:
    /* Runs that may be in the graph without that push blocks. */
    static constexpr unsigned most_inside = 16;

    /* @module: OpenCL C if its name ends in .cl, else for CUDA. Refers to the workload. */
    PtaskProgram(ptask::Graph &graph, const std::string &module, const Workload &workload);
    /* The structures that kernels take; once, before the graph runs. */
    void push_constants();
    void set_priority(int priority);

    /* Datablocks of the inputs, by value. */
    using Blocks = std::vector<ptask::DatablockPtr>;
    Blocks make_blocks(unsigned set) const;
    /* False when the graph was stopped, or after @timeout. */
    bool push(const Blocks &blocks, ptask::Timeout timeout = {});
    /* The results of a run, or what the host makes of them; empty when the graph was stopped, or after @timeout. */
    Blocks pull(ptask::Timeout timeout = {});
    /* Of all its tasks. */
    std::uint64_t completed() const;

private:
    const Workload &workload_;
    std::vector<ptask::Task *> tasks_;
    std::vector<std::pair<ptask::Input *, const Step *>> constants_;
    std::vector<std::pair<ptask::Input *, ValueId>> inputs_;
    std::vector<ptask::Output *> outputs_;
};

} // namespace ptsched::paper

#endif /* PTSCHED_PAPER_PTASK_PROGRAM_HPP */
