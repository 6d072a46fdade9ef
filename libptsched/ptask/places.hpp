/* SPDX-License-Identifier: MIT */
/* The devices of a graph and their queues: which of them a run gets. The scheduler's thread has them for itself. */
#ifndef PTSCHED_PTASK_PLACES_HPP
#define PTSCHED_PTASK_PLACES_HPP

#include "ready.hpp"
#include "run.hpp"

namespace ptsched::ptask {

struct Lane {
    Place *place;
    Ring<Run *> runs;
    Clock::time_point last_end;
    std::unique_ptr<device::Queue> queue; /* its end waits for what uses the runs' blocks */
};

struct Place {
    device::Device *device;
    std::vector<std::unique_ptr<Lane>> lanes;
    unsigned lane_count;
    std::size_t runs = 0;  /* given to its queues and not ended */
    double seconds = 0;    /* that they are expected to take */
    DeviceCounters counts; /* the scheduler's lock */

    bool full() const;
};

/* Whether no other device has a copy, of all that any graph uses. */
bool is_only_on(const Datablock &block, const device::Device &device);

class Places {
public:
    explicit Places(const GraphOptions &options) : options_(options) {}

    void add(device::Device &device, unsigned lanes);
    /* For a task with code for these devices, in their order. */
    std::vector<Place *> of(const std::vector<device::Device *> &devices) const;
    /* Waits for what the queues have. */
    void close();

    /* Whether no run can be given to the host, or to any other device. */
    bool full(bool host) const;
    /* The place among those of the task. */
    std::size_t choose(const Run &run);
    Lane &choose_lane(const Run &run, Place &place) const;
    /* A run begins; called before its blocks are moved. */
    void begin(Run &run, Lane &lane);
    /* The one that was given first to its lane is over. */
    void end(Run &run, Clock::time_point now, Ready &ready);

    std::vector<std::unique_ptr<Place>> all;

private:
    struct Moved {
        std::uint64_t blocks = 0, bytes = 0;
    };

    double cost(const Place &place, const Moved &moved, double ready) const;
    std::size_t where_it_begins_first(const Run &run) const;
    static Moved missing(const Run &run, const Place &place);
    void count(Run &run, Place &place) const;

    GraphOptions options_;
    std::size_t turn_ = 0;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_PLACES_HPP */
