/* SPDX-License-Identifier: MIT */
/*
 * The variants of a program. All of them begin with inputs in memory of the host and end with results there, unless
 * these stay on the device; memory is allocated before the clock runs.
 */
#ifndef PTSCHED_PAPER_EXECUTOR_HPP
#define PTSCHED_PAPER_EXECUTOR_HPP

#include "samples/ptask/paper/cuda.hpp"
#include "samples/ptask/paper/workload.hpp"
#include <ptsched/ptask/options.hpp>

#include <memory>

namespace ptsched::paper {

class Executor {
public:
    Executor() = default;
    virtual ~Executor() = default;
    Executor(const Executor &) = delete;
    Executor &operator=(const Executor &) = delete;

    /* The part of the next run(@count) that is not measured: inputs come to be where a camera would put them. */
    virtual void prepare(unsigned count) = 0;
    /* Returns when the results of so many runs are there; one may begin before another has ended. */
    virtual void run(unsigned count) = 0;
    /* Of the last run, and to which set of inputs they belong. */
    virtual std::vector<Content> results() = 0;
    virtual unsigned last_set() const = 0;
    /* How it was done, where there was something to choose. */
    virtual std::string choice() const { return {}; }
    /* Of ptask: what devices were given so far. */
    virtual std::vector<ptask::DeviceCounters> counters() const { return {}; }
};

/* The paper's: one thread, ordinary memory, copies that wait, what is between steps stays on the device. */
std::unique_ptr<Executor> make_handcode(const Gpu &gpu, const Workload &workload);
/* Each step copies its inputs in and its outputs out; one thread, or four with a stream each. */
std::unique_ptr<Executor> make_modular(const Gpu &gpu, const Workload &workload);
std::unique_ptr<Executor> make_modular_threads(const Gpu &gpu, const Workload &workload);
/* As an expert writes it today. */
enum class Means {
    any,
    streams,
    graph,
    in_turn,   /* one stream, and a run begins when the one before has ended */
    ping_pong, /* the same twice, with buffers of its own each */
};
/*
 * The fastest way for run(@count) of those that are there. With ping_pong, the workload has one or two sets. @priority:
 * of its streams.
 */
std::unique_ptr<Executor> make_best(const Gpu &gpu, const Workload &workload, unsigned count, Means means = Means::any,
                                    int priority = 0);
/* The same where work that has nothing to do with each other is divided: each GPU has one of the parts. */
std::unique_ptr<Executor> make_best_on_gpus(const std::string &module, const std::vector<Workload> &parts,
                                            unsigned count);
/* On OpenCL devices if the name of the module ends in .cl, else on GPUs. */
std::unique_ptr<Executor> make_ptask(const std::string &module, const Workload &workload,
                                     const ptask::GraphOptions &options = {});

struct Variant {
    const char *name;
    std::unique_ptr<Executor> (*make)(const Gpu &gpu, const Workload &workload, unsigned count);
};
const std::vector<Variant> &variants();

} // namespace ptsched::paper

#endif /* PTSCHED_PAPER_EXECUTOR_HPP */
