/* SPDX-License-Identifier: MIT */
/* What programs by tasks are told: how memory comes to GPUs, and how many there are. */
#ifndef SAMPLES_TASKS_COMMON_MODES_HPP
#define SAMPLES_TASKS_COMMON_MODES_HPP

#include "samples/common/ways.hpp"
#include <ptsched/tasks.hpp>

namespace ptsched::samples {

/* Of --memory: one of the three, or all of them. */
class Modes {
public:
    /* "--memory", whose value is here. */
    Choice choice();
    /* That by hand, and that by tasks for each that was chosen. */
    std::vector<NamedWay> ways(std::function<std::unique_ptr<Way>()> by_hand,
                               const std::function<std::unique_ptr<Way>(tasks::Memory)> &by_tasks) const;

private:
    unsigned chosen_ = 3;
};

/* Of a runtime on so many GPUs. Throws Error if there are fewer. */
tasks::Options options(tasks::Memory memory, unsigned gpus = 1);

/* A kernel of a file, for tasks. */
tasks::Kernel kernel_of(const std::string &module, const std::string &name);

} // namespace ptsched::samples

#endif /* SAMPLES_TASKS_COMMON_MODES_HPP */
