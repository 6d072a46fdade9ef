// SPDX-License-Identifier: MIT
#include "libptsched/device/kept.hpp"

#include "libptsched/base/lock.hpp"
#include <ptsched/device/device.hpp>

namespace ptsched::device {

namespace {

constinit Mutex mutex; /* also for the others of the list */
constinit Keeper *first PTSCHED_GUARDED_BY(mutex) = nullptr;

} // namespace

void Keeper::become_known()
{
    Guard lock(mutex);
    next_ = first;
    first = this;
}

void Keeper::leave()
{
    Guard lock(mutex);
    Keeper **place = &first;
    while (*place != this)
        place = &(*place)->next_;
    *place = next_;
}

std::size_t Keeper::trim_all()
{
    Guard lock(mutex);
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
