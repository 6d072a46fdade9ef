/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PTASK_CHANNEL_HPP
#define PTSCHED_PTASK_CHANNEL_HPP

#include "ptask.hpp"

#include <deque>

namespace ptsched::ptask {

class Scheduler;

/* First in, first out, between two ports or a port and the world (null). The scheduler's lock protects it. */
struct Channel {
    Scheduler &scheduler;
    Port *source, *destination;
    std::size_t capacity;
    std::deque<DatablockPtr> blocks = {};
    std::size_t promised = 0; /* by runs that have not ended */

    bool has_room() const { return blocks.size() + promised < capacity; }
    /* Of the port at either end: both agree. */
    const PortOptions &port() const { return (destination ? destination : source)->options(); }
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_CHANNEL_HPP */
