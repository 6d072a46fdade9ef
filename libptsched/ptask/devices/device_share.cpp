// SPDX-License-Identifier: MIT
#include "libptsched/ptask/devices/device_share.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace ptsched::ptask {

namespace {

/* In mean charges: how far a graph may be before the others, whose threads look now and then only, and what it may
 * catch up with if it had nothing to run for a while. */
constexpr double runs_ahead = 8, runs_to_catch_up = 64;

} // namespace

/* For good, as devices are. */
Rival::Shared &Rival::shared_by(const device::Device &device)
{
    static std::mutex mutex;
    static auto &all = *new std::map<const device::Device *, Shared>;
    std::lock_guard lock(mutex);
    return all[&device];
}

Rival::Rival(const device::Device &device, std::function<void()> wake)
    : device_(shared_by(device)), wake_(std::move(wake))
{
    std::lock_guard lock(device_.mutex);
    device_.rivals.push_back(this);
    device_.count = static_cast<unsigned>(device_.rivals.size());
}

void Rival::leave()
{
    std::lock_guard lock(device_.mutex);
    std::erase(device_.rivals, this);
    device_.count = static_cast<unsigned>(device_.rivals.size());
}

bool Rival::is_next()
{
    std::lock_guard lock(device_.mutex);
    unsigned runs = 0;
    double seconds = 0;
    bool any = false;                                       /* other that has runs, or wants to begin some */
    double least = std::numeric_limits<double>::infinity(); /* of the others that want to begin some */
    for (const Rival *rival : device_.rivals) {
        runs += rival->runs_.load(std::memory_order_relaxed);
        seconds += rival->seconds_.load(std::memory_order_relaxed);
        any = any || (rival != this && (rival->wants_ || rival->runs_.load(std::memory_order_relaxed)));
        if (rival != this && rival->wants_)
            least = std::min(least, rival->clock_);
    }
    if (!wants_ && std::isfinite(least))
        clock_ = std::max(clock_, least - runs_to_catch_up * device_.mean_charge);
    wants_ = true;
    if (any && runs >= fewest && seconds >= enough_seconds)
        return false;
    return (runs < few && seconds < few_seconds) || (runs < most && clock_ <= least + runs_ahead * device_.mean_charge);
}

void Rival::rest()
{
    if (!wants_)
        return;
    std::lock_guard lock(device_.mutex);
    wants_ = false;
}

void Rival::ended(double seconds)
{
    const unsigned left = runs_.load(std::memory_order_relaxed) - 1;
    runs_.store(left, std::memory_order_relaxed);
    seconds_.store(left ? seconds_.load(std::memory_order_relaxed) - seconds : 0, std::memory_order_relaxed);
    if (alone())
        return;
    std::lock_guard lock(device_.mutex);
    for (const Rival *rival : device_.rivals)
        if (rival != this && rival->wants_)
            rival->wake_();
}

void Rival::begin(double seconds, double charge)
{
    runs_.store(runs_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    seconds_.store(seconds_.load(std::memory_order_relaxed) + seconds, std::memory_order_relaxed);
    if (alone())
        return;
    std::lock_guard lock(device_.mutex);
    device_.mean_charge += (charge - device_.mean_charge) / 16;
    clock_ += charge;
}

} // namespace ptsched::ptask
