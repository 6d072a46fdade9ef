// SPDX-License-Identifier: MIT
/* How residents make room: which datablocks go, in which order. */
#include "libptsched/device/datablock.hpp"
#include "libptsched/device/residents.hpp"

#include <thread>

namespace ptsched::device {

bool ResidentsImpl::make_room(std::size_t bytes)
{
    bool going = false;

    for (Eviction how : {Eviction::clean, Eviction::dirty, Eviction::busy}) {
        std::size_t released = 0;
        for (const auto &candidate : oldest_first()) {
            /* One that is going releases its memory before it leaves the list. */
            DatablockPtr block = candidate.lock();
            going = going || !block;
            released += block ? impl(*block).evict(device_, how) : 0;
            if (released >= bytes)
                break;
        }
        if (released)
            return true;
    }
    if (going)
        std::this_thread::yield();
    return going;
}

bool Residents::make_room(std::size_t bytes)
{
    return impl(*this).make_room(bytes);
}

} // namespace ptsched::device
