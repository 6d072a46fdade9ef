/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PTASK_GRAPH_RUN_HPP
#define PTSCHED_PTASK_GRAPH_RUN_HPP

#include "libptsched/ptask/graph/call.hpp"
#include "libptsched/ptask/graph/channel.hpp"
#include <ptsched/device/access.hpp>

#include <algorithm>

namespace ptsched::ptask {

struct Lane;

/* A run of a task. The scheduler's thread has them for itself, and uses them again. */
struct Run {
    TaskImpl *task = nullptr;
    std::uint64_t number = 0; /* changes when it ends */
    device::MarkerPtr marker;
    Lane *lane = nullptr; /* while it is in a queue */
    std::chrono::steady_clock::time_point began;
    double seconds = 0; /* that it was expected to take */
    /* Bytes that it needed from the host and from other GPUs, and when they were there, if somebody asks. */
    std::uint64_t uploaded = 0, migrated = 0;
    bool timed = false;
    device::MarkerPtr copied;
    /* For ptsched, or for graphs that share the device, now and then. */
    bool watched = false;
    std::unique_ptr<device::Watch> watch;
    /* Each in its port's place, until the end: the block, and who wrote what was taken. */
    std::vector<DatablockPtr> held;
    std::vector<Writer> writers;
    std::vector<DatablockPtr> sources; /* of copies that are made for it */
    Item signals;                      /* the block is not used */
    bool absent = false;               /* an input has no block */
    bool skipped = false;              /* its condition is 0 */
    bool late = false;                 /* outputs are given on when they are written */
    bool done = false;                 /* they are */
    bool asked = false;                /* somebody will want to know, or wait for, its end and no later one */
    /* For the queue, while it is given the run. */
    std::vector<device::Access::Item> items;
    std::vector<device::Address> addresses;
    std::vector<void *> arguments;
    CallImpl call;
    void *call_address = &call;

    Run() = default;
    Run(const Run &) = delete;
    Run &operator=(const Run &) = delete;

    void begin(TaskImpl &what, std::size_t ports)
    {
        task = &what;
        held.resize(ports);
        writers.assign(ports, {});
        absent = skipped = late = done = false;
    }

    void end()
    {
        number++;
        marker.reset();
        copied.reset();
        watch.reset();
        std::fill(held.begin(), held.end(), nullptr);
        sources.clear();
        signals = {};
    }
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_GRAPH_RUN_HPP */
