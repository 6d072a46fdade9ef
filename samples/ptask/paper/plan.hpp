/* SPDX-License-Identifier: MIT */
/* In which order a program written by hand calls the driver to run a workload on several streams. */
#ifndef PTSCHED_PAPER_PLAN_HPP
#define PTSCHED_PAPER_PLAN_HPP

#include "samples/ptask/paper/workload.hpp"

namespace ptsched::paper {

struct Operation {
    enum Kind { upload, launch, download, record, wait } kind;
    std::size_t what; /* a value, a step, or an event */
    unsigned stream;
};

struct Plan {
    /* With @own_copy_streams, a stream more for each direction; else copies go where the kernel runs. */
    Plan(const Workload &workload, unsigned streams, bool own_copy_streams);

    std::vector<Operation> operations;
    std::size_t events = 0;
    std::vector<unsigned> used; /* streams, the first of all among them */
    std::vector<unsigned> ends; /* those whose last operation no other stream waits for */
};

} // namespace ptsched::paper

#endif /* PTSCHED_PAPER_PLAN_HPP */
