/* SPDX-License-Identifier: MIT */
/*
 * What a graph did and when, as far as whoever did its work saw it: a run begins when it is given to a queue or when
 * the one before it there ended, and ends when somebody finds that it did.
 */
#ifndef PTSCHED_PTASK_RUN_TIMELINE_HPP
#define PTSCHED_PTASK_RUN_TIMELINE_HPP

#include "libptsched/ptask/devices/graph_devices.hpp"
#include "libptsched/ptask/replay/replay.hpp"

#include <map>
#include <unordered_map>

namespace ptsched::ptask {

class Timeline {
public:
    /* The run is still in its lane. */
    void ran(const Run &run, Clock::time_point now);
    /* What it needed from elsewhere is there. */
    void moved(const Run &run, Clock::time_point now);
    void fetched(const device::Device &from, const TaskImpl &by, std::size_t bytes, Clock::time_point began,
                 Clock::time_point now);
    /* A subgraph, as the CUDA graph that @replay has; what was copied for it, some time in between. */
    void replayed(const device::Device &device, const Replay &replay, const Subgraph &subgraph,
                  const Replay::Moved &moved, Clock::time_point began, Clock::time_point now);
    /* In the Trace Event Format, which Perfetto and Chrome show: a row for each task, queue and direction of copies. */
    std::string json(const GraphDevices &graph_devices, const std::vector<std::unique_ptr<TaskImpl>> &tasks) const;

private:
    /* Rows of a device behind those of its queues. */
    enum Row { only_task, from_host = 51, from_gpu, to_host, first_graph };
    struct Event {
        const device::Device *device;
        unsigned row;
        const TaskImpl *task;
        Clock::time_point began, ended;
        std::uint64_t bytes;
        std::size_t more = 0; /* tasks in the same CUDA graph */
    };

    /* A CUDA graph. */
    struct GraphImpl {
        const device::Device *device;
        unsigned row;
        Clock::time_point ended; /* its last set */
    };

    void add(const Event &event);

    std::unordered_map<const Replay *, GraphImpl> graphs_;
    std::map<std::pair<const device::Device *, unsigned>, Clock::time_point> copied_; /* until then, for sets; by row */
    Clock::time_point origin_ = Clock::now();
    std::vector<Event> events_;
    std::uint64_t lost_ = 0;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_RUN_TIMELINE_HPP */
