// SPDX-License-Identifier: MIT
#include "libptsched/device/kept.hpp"

#include <ptsched/device/device.hpp>

#include <mutex>

namespace ptsched::device {

namespace {

constinit std::mutex mutex; /* protects the list */
constinit Keeper *first = nullptr;

} // namespace

void Keeper::become_known()
{
    std::lock_guard lock(mutex);
    next_ = first;
    first = this;
}

void Keeper::leave()
{
    std::lock_guard lock(mutex);
    Keeper **place = &first;
    while (*place != this)
        place = &(*place)->next_;
    *place = next_;
}

std::size_t Keeper::trim_all()
{
    std::lock_guard lock(mutex);
    std::size_t bytes = 0;
    for (Keeper *keeper = first; keeper; keeper = keeper->next_)
        bytes += keeper->trim();
    return bytes;
}

std::size_t trim()
{
    return Keeper::trim_all();
}

} // namespace ptsched::device
