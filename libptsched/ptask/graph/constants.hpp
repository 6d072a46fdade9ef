/* SPDX-License-Identifier: MIT */
/*
 * What a CUDA kernel finds in constant memory: variables of its module, one for each port that is bound so. A task has
 * the module for itself, and its runs on a device go one after another, since they all find the same variables. What
 * stays from one run to the next is not copied again.
 */
#ifndef PTSCHED_PTASK_GRAPH_CONSTANTS_HPP
#define PTSCHED_PTASK_GRAPH_CONSTANTS_HPP

#include "libptsched/ptask/graph/run.hpp"

namespace ptsched::ptask {

class Constants {
public:
    /* Of a task's ports and its code for one device. Throws Error, with both sizes, where a variable does not fit. */
    Constants(const TaskImpl &task, const std::string &kernel, const device::Code &code);

    /* Gives the queue what fills the variables for a run whose blocks are on the device. */
    void fill(device::Device &device, device::Queue &queue, const Run &run);
    /* The queue has the run, and the marker after it. */
    void given(const device::Queue &queue, const device::MarkerPtr &marker);

private:
    struct Constant {
        std::size_t port;
        device::Address variable;
        DatablockPtr content; /* so that nobody changes it in place */
    };
    std::vector<Constant> constants_;
    const device::Queue *queue_ = nullptr; /* of the last run */
    device::MarkerPtr last_;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_GRAPH_CONSTANTS_HPP */
