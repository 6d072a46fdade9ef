// SPDX-License-Identifier: MIT
#include "libptsched/tasks/gpu/placement.hpp"

#include <ptsched/device/rates.hpp>

#include <algorithm>

namespace ptsched::tasks {

namespace {

/* Runs of each version before they are compared, and how many measured ones the average is of. */
constexpr unsigned first_runs = 2, average_of = 8;
/* Of a task on a GPU as long as nobody knows. */
constexpr double usual_seconds = 20e-6;
/* Where nothing could be measured, in bytes a second. */
constexpr double usual_rate = 1e10;

double known(double rate)
{
    return rate > 0 ? rate : usual_rate;
}

Rates measure(const std::vector<device::Device *> &devices)
{
    Rates rates;
    rates.from_host.assign(devices.size(), usual_rate);
    rates.between.assign(devices.size() * devices.size(), usual_rate);
    if (devices.size() == 1)
        return rates;
    for (std::size_t to = 0; to < devices.size(); to++) {
        rates.from_host[to] = known(device::rates_of(*devices[to]).to_device.median);
        for (std::size_t from = 0; from < devices.size(); from++)
            if (devices[from] != devices[to])
                rates.between[from * devices.size() + to] =
                    known(device::copy_rate(*devices[from], *devices[to]).median);
    }
    return rates;
}

} // namespace

Placement::Placement(std::vector<device::Device *> devices, unsigned workers, Directory &directory)
    : devices_(std::move(devices)), workers_(std::max(workers, 1U)), directory_(directory), rates_(measure(devices_))
{
}

std::size_t Placement::place(const Task &task, std::span<const Load> loads)
{
    if (task.attributes.device >= 0)
        return static_cast<std::size_t>(task.attributes.device);
    if (loads.size() == 1)
        return 0;
    seconds_.assign(loads.size(), 0);
    directory_.add_seconds(task, rates_, seconds_);
    for (std::size_t i = 0; i < loads.size(); i++) {
        const double of_each = loads[i].seconds_of_each > 0 ? loads[i].seconds_of_each : usual_seconds;
        seconds_[i] += static_cast<double>(loads[i].tasks) * of_each;
    }
    return static_cast<std::size_t>(std::min_element(seconds_.begin(), seconds_.end()) - seconds_.begin());
}

void Placement::Side::end(double took)
{
    ended++;
    if (took > 0)
        seconds = seconds > 0 ? seconds + (took - seconds) / average_of : took;
}

/* At first, each is tried; then it is where it would end first behind what was sent there before. */
bool Placement::prefers_gpu(const Task &task)
{
    double copies = 0;
    {
        std::vector<double> seconds(devices_.size());
        directory_.add_seconds(task, rates_, seconds);
        copies = *std::min_element(seconds.begin(), seconds.end());
    }
    Guard lock(mutex_);
    auto &[host, gpu] = times_[task.function];
    bool prefers;
    if (gpu.chosen < first_runs || host.chosen < first_runs)
        prefers = gpu.chosen <= host.chosen;
    else if (!(host.seconds > 0) || !(gpu.seconds > 0))
        prefers = !(host.seconds > 0);
    else
        prefers = gpu.seconds * (gpu.in_flight() + 1) / static_cast<double>(devices_.size()) + copies <=
                  host.seconds * (host.in_flight() / workers_ + 1);
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
