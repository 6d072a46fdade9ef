// SPDX-License-Identifier: MIT
#include "libptsched/tasks/gpu/placement.hpp"

#include <algorithm>

namespace ptsched::tasks {

namespace {

/* Runs of each version before they are compared, and how many measured ones the average is of. */
constexpr unsigned first_runs = 2, average_of = 8;

} // namespace

void Placement::Side::end(double took)
{
    ended++;
    if (took > 0)
        seconds = seconds > 0 ? seconds + (took - seconds) / average_of : took;
}

/* At first, each is tried; then it is where it would end first behind what was sent there before. */
bool Placement::prefers_gpu(const Task &task)
{
    const double copies = least_copies(directory_.ways(task));
    Guard lock(mutex_);
    auto &[host, gpu] = times_[task.function];
    bool prefers;
    if (gpu.chosen < first_runs || host.chosen < first_runs)
        prefers = gpu.chosen <= host.chosen;
    else if (!(host.seconds > 0) || !(gpu.seconds > 0))
        prefers = !(host.seconds > 0);
    else
        prefers =
            gpu.seconds * (gpu.in_flight() + 1) / devices_ + copies <= host.seconds * (host.in_flight() / workers_ + 1);
    (prefers ? gpu : host).chosen++;
    return prefers;
}

bool Placement::wants_measure(const Task &task)
{
    Guard lock(mutex_);
    const Side &gpu = times_[task.function].gpu;
    return gpu.ended < first_runs || gpu.ended % average_of == 0;
}

void Placement::ran_on_host(const Task &task, std::chrono::nanoseconds time)
{
    Guard lock(mutex_);
    times_[task.function].host.end(std::chrono::duration<double>(time).count());
}

void Placement::ran_on_gpu(const Task &task, double seconds)
{
    Guard lock(mutex_);
    times_[task.function].gpu.end(seconds);
}

} // namespace ptsched::tasks
