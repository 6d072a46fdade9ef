/* SPDX-License-Identifier: MIT */
/* What hand-written variants have in common: where values are, how a step is launched, what becomes of results. */
#ifndef PTSCHED_PAPER_BY_HAND_HPP
#define PTSCHED_PAPER_BY_HAND_HPP

#include "samples/ptask/paper/executor.hpp"

namespace ptsched::paper {

/*
 * Which buffer on the device holds which value. A step writes to a buffer again when all that use its content must have
 * ended before it anyway, so that this adds no dependency.
 */
struct Layout {
    explicit Layout(const Workload &workload);
    std::vector<std::size_t> buffer_of; /* by value */
    std::vector<std::size_t> sizes;     /* by buffer */
};

/* A set of buffers, and the launches with their addresses. */
class Buffers {
public:
    /* Refers to the workload. */
    Buffers(const Gpu &gpu, const Workload &workload, const Layout &layout);
    CUdeviceptr at(ValueId value) const { return memory_[buffer_of_[value]].get(); }
    void launch(std::size_t step, CUstream stream) const;

private:
    struct Launch {
        const Step *step;
        CUfunction function;
        std::vector<void *> arguments;
    };
    std::vector<std::size_t> buffer_of_;
    std::vector<Memory> memory_;
    std::vector<CUdeviceptr> addresses_; /* one for each value: launches point to them */
    std::vector<Launch> launches_;
};

/* The outcome of a run from the results on the host: what Finish makes of them, or they themselves. */
class Outcome {
public:
    explicit Outcome(const Workload &workload) : workload_(workload) {}
    void take(const std::vector<const std::uint32_t *> &results);
    std::vector<Content> contents() const;

private:
    const Workload &workload_;
    std::vector<const std::uint32_t *> results_;
    Content finished_;
};

void launch(const Step &step, CUfunction function, const std::vector<void *> &arguments, CUstream stream);

} // namespace ptsched::paper

#endif /* PTSCHED_PAPER_BY_HAND_HPP */
