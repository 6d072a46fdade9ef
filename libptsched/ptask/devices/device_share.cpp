// SPDX-License-Identifier: MIT
#include "libptsched/ptask/devices/device_share.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace ptsched::ptask {

namespace {

/*
 * In mean charges: how far a graph may be before the others, whose threads look now and then only, and what it may
 * catch up with if it had nothing to run for a while.
 */
constexpr double runs_ahead = 8, runs_to_catch_up = 64;

} // namespace

/* For good, as devices are. */
DeviceShare::Shared &DeviceShare::shared_by(const device::Device &device)
{
    static Mutex mutex;
    static auto &all PTSCHED_GUARDED_BY(mutex) = *new std::map<const device::Device *, Shared>;
    Guard lock(mutex);
    return all[&device];
}

DeviceShare::DeviceShare(const device::Device &device, std::function<void()> wake)
    : device_(shared_by(device)), wake_(std::move(wake))
{
    Guard lock(device_.mutex);
    device_.sharers.push_back(this);
    device_.count = static_cast<unsigned>(device_.sharers.size());
}

void DeviceShare::leave()
{
    Guard lock(device_.mutex);
    std::erase(device_.sharers, this);
    device_.count = static_cast<unsigned>(device_.sharers.size());
}

bool DeviceShare::is_next()
{
    Guard lock(device_.mutex);
    unsigned runs = 0;
    double seconds = 0;
    bool any = false;                                       /* other that has runs, or wants to begin some */
    double least = std::numeric_limits<double>::infinity(); /* of the others that want to begin some */
    for (const DeviceShare *sharer : device_.sharers) {
        runs += sharer->runs_.load(std::memory_order_relaxed);
        seconds += sharer->seconds_.load(std::memory_order_relaxed);
        any = any || (sharer != this && (sharer->wants_ || sharer->runs_.load(std::memory_order_relaxed)));
        if (sharer != this && sharer->wants_)
            least = std::min(least, sharer->clock_);
    }
    if (!wants_ && std::isfinite(least))
        clock_ = std::max(clock_, least - runs_to_catch_up * device_.mean_charge);
    wants_ = true;
    if (any && runs >= fewest && seconds >= enough_seconds)
        return false;
    return (runs < few && seconds < few_seconds) || (runs < most && clock_ <= least + runs_ahead * device_.mean_charge);
}

void DeviceShare::rest()
{
    if (!wants_)
        return;
    Guard lock(device_.mutex);
    wants_ = false;
}

void DeviceShare::ended(double seconds)
{
    const unsigned left = runs_.load(std::memory_order_relaxed) - 1;
    runs_.store(left, std::memory_order_relaxed);
    seconds_.store(left ? seconds_.load(std::memory_order_relaxed) - seconds : 0, std::memory_order_relaxed);
    if (alone())
        return;
    Guard lock(device_.mutex);
    for (const DeviceShare *sharer : device_.sharers)
        if (sharer != this && sharer->wants_)
            sharer->wake_();
}

void DeviceShare::begin(double seconds, double charge)
{
    runs_.store(runs_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    seconds_.store(seconds_.load(std::memory_order_relaxed) + seconds, std::memory_order_relaxed);
    if (alone())
        return;
    Guard lock(device_.mutex);
    device_.mean_charge += (charge - device_.mean_charge) / 16;
    clock_ += charge;
}

} // namespace ptsched::ptask
