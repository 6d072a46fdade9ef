/* SPDX-License-Identifier: MIT */
/* Whether a task that may run on the host or on a GPU does the one or the other: by how long the function took. */
#ifndef PTSCHED_TASKS_GPU_PLACEMENT_HPP
#define PTSCHED_TASKS_GPU_PLACEMENT_HPP

#include "libptsched/tasks/gpu/directory.hpp"

#include <algorithm>
#include <chrono>
#include <unordered_map>

namespace ptsched::tasks {

/* Thread-safe. */
class Placement {
public:
    /* @devices: how many; @workers: of the host. */
    Placement(std::size_t devices, unsigned workers, Directory &directory)
        : devices_(static_cast<double>(devices)), workers_(std::max(workers, 1U)), directory_(directory)
    {
    }
    Placement(const Placement &) = delete;
    Placement &operator=(const Placement &) = delete;

    bool prefers_gpu(const Task &task);
    /* Whether the next run on a GPU is to be measured. */
    bool wants_measure(const Task &task);
    void ran_on_host(const Task &task, std::chrono::nanoseconds time);
    /* @seconds: 0 if it was not measured. */
    void ran_on_gpu(const Task &task, double seconds);

private:
    struct Side {
        double seconds = 0; /* of one run, lately; 0: not known yet */
        unsigned chosen = 0, ended = 0;

        void end(double took);
        unsigned in_flight() const { return chosen - ended; }
    };
    struct Times {
        Side host, gpu;
    };

    const double devices_;
    const unsigned workers_;
    Directory &directory_;
    SmallMutex mutex_;
    std::unordered_map<const Function *, Times> times_ PTSCHED_GUARDED_BY(mutex_);
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_GPU_PLACEMENT_HPP */
