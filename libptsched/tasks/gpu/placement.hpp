/* SPDX-License-Identifier: MIT */
/* On which device a task runs: where it is likely to be done first, by what would have to be copied and by the load. */
#ifndef PTSCHED_TASKS_GPU_PLACEMENT_HPP
#define PTSCHED_TASKS_GPU_PLACEMENT_HPP

#include "libptsched/tasks/gpu/streams.hpp"

namespace ptsched::tasks {

class Placement {
public:
    explicit Placement(Directory &directory) : directory_(directory) {}
    Placement(const Placement &) = delete;
    Placement &operator=(const Placement &) = delete;

    /* For the thread that serves. */
    std::size_t place(const Task &task, const std::vector<std::unique_ptr<Streams>> &gpus);

private:
    Directory &directory_;
    std::vector<double> missing_; /* bytes, of each device */
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_GPU_PLACEMENT_HPP */
