/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PTASK_GRAPH_CHANNEL_HPP
#define PTSCHED_PTASK_GRAPH_CHANNEL_HPP

#include "libptsched/base/ring.hpp"
#include "libptsched/ptask/graph/task.hpp"
#include <ptsched/base/fd.hpp>

#include <atomic>
#include <condition_variable>
#include <sys/eventfd.h>

namespace ptsched::ptask {

class Scheduler;

/* The run that writes a block, as long as its number is this one. */
struct Writer {
    Run *run = nullptr;
    std::uint64_t number = 0;
};

/* What passes through a channel. */
struct Token {
    Item item;
    Writer writer = {};
    bool here = true; /* false: the run-time is to read it, and it is on its way to the host */
};

/* First in, first out, between two ports or a port and the world (null). */
struct alignas(64) Channel {
    Channel(Scheduler &scheduler, PortImpl *source, PortImpl *destination, std::size_t capacity)
        : source(source), destination(destination), capacity(capacity), scheduler(scheduler)
    {
    }

    /* What each run uses is in front: of a graph of thousands of tasks, most is in no cache. */
    PortImpl *const source, *const destination;
    const std::size_t capacity;
    unsigned promised PTASK_GUARDED = 0; /* by runs that have not ended */
    bool is_loop = false; /* used while the loop goes on, when no other channel of its source's task is */
    Ring<Token> tokens PTASK_GUARDED = {};
    Scheduler &scheduler;
    /* For who pushes or pulls. */
    std::condition_variable changed = {};
    unsigned waiting PTASK_GUARDED = 0;
    /* Of an output: blocks that were read on the host, each of which lets another be brought there beforehand. */
    std::shared_ptr<std::atomic<unsigned>> reads = {};
    /* Of an output that somebody polls: readable while a token is here, and for good when nothing comes any more. */
    UniqueFd event PTASK_GUARDED = {};
    bool readable PTASK_GUARDED = false, over PTASK_GUARDED = false;

    std::size_t used() const PTASK_LOCKED { return tokens.size() + promised; }
    bool has_room() const PTASK_LOCKED { return used() < capacity; }
    bool has_token() const PTASK_LOCKED { return !tokens.empty() && tokens.front().here; }
    /* Of the port at either end: both agree. */
    const PortOptions &port() const { return (destination ? destination : source)->options(); }

    void wake() PTASK_LOCKED
    {
        if (waiting)
            changed.notify_all();
        if (event)
            announce();
    }
    void announce() PTASK_LOCKED
    {
        eventfd_t value;
        if (readable == (has_token() || over))
            return;
        readable = !readable;
        if (readable)
            eventfd_write(event.get(), 1);
        else
            eventfd_read(event.get(), &value);
    }
    /* Whether there is something to pull. */
    bool has_output() const PTASK_LOCKED { return event ? has_token() : !tokens.empty(); }
    /* Whether there will be something, even if the graph is stopped. */
    bool has_coming() const PTASK_LOCKED { return event && !over && !tokens.empty(); }
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_GRAPH_CHANNEL_HPP */
