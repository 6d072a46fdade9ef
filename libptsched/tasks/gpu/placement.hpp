/* SPDX-License-Identifier: MIT */
/*
 * Where a task runs: where it is likely to be done first. Of devices, by what would have to be copied, and by what they
 * have to do already; of a GPU and the host, by how long the same function took on each.
 */
#ifndef PTSCHED_TASKS_GPU_PLACEMENT_HPP
#define PTSCHED_TASKS_GPU_PLACEMENT_HPP

#include "libptsched/tasks/gpu/directory.hpp"

#include <chrono>
#include <unordered_map>

namespace ptsched::tasks {

/* What it is to know of a device's tasks. */
struct Load {
    std::size_t tasks = 0; /* that have not ended */
    double seconds_of_each = 0;
};

class Placement {
public:
    /* Measures the devices' rates if there are several. @workers: of the host. */
    Placement(std::vector<device::Device *> devices, unsigned workers, Directory &directory);
    Placement(const Placement &) = delete;
    Placement &operator=(const Placement &) = delete;

    /* For the thread that serves. @loads: of each device. */
    std::size_t place(const Task &task, std::span<const Load> loads);
    std::size_t devices() const { return devices_.size(); }

    /* The following are thread-safe: of tasks that may run on the host or on a GPU, the one or the other. */
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

    const std::vector<device::Device *> devices_;
    const unsigned workers_;
    Directory &directory_;
    Rates rates_;
    std::vector<double> seconds_; /* of each device, for copies */
    SmallMutex mutex_;
    std::unordered_map<const Function *, Times> times_ PTSCHED_GUARDED_BY(mutex_);
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_GPU_PLACEMENT_HPP */
