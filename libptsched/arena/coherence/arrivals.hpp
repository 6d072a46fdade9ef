/* SPDX-License-Identifier: MIT */
/*
 * Pages that the host has taken from GPUs and that come while it goes on. What it touches comes first, and then what
 * is behind that, in turn where several threads do so.
 */
#ifndef PTSCHED_ARENA_COHERENCE_ARRIVALS_HPP
#define PTSCHED_ARENA_COHERENCE_ARRIVALS_HPP

#include "libptsched/arena/coherence/host_side.hpp"
#include "libptsched/arena/coherence/work.hpp"

#include <condition_variable>
#include <deque>

namespace ptsched::arena {

/* Of a region. */
struct Arrival {
    std::unique_ptr<Work> before; /* what GPUs have to do with the pages, beside the copies */
    struct Next {
        Extent *extent;
        std::size_t page;
    };
    std::deque<Next> next = {}; /* behind what was touched */
};

/* A region's lock is taken before its own. */
class Arrivals {
public:
    Arrivals(GpuSide &gpus, const MakeTurn &make_turn, HostSide &host) : gpus_(gpus), make_turn_(make_turn), host_(host)
    {
    }
    Arrivals(const Arrivals &) = delete;
    Arrivals &operator=(const Arrivals &) = delete;

    /* In a pause, after which what the host has not of a region that no kernel writes any more comes from GPUs. */
    void begin(Region &region, std::unique_ptr<Work> before, Turn turn) PTSCHED_REQUIRES(region.mutex);
    /* As long as one is there, nothing comes. */
    class Pause {
    public:
        /* Waits for what is on its way: a few copies. */
        Pause(Arrivals &arrivals, Region &region) PTSCHED_EXCLUDES(region.mutex);
        ~Pause();
        Pause(const Pause &) = delete;
        Pause &operator=(const Pause &) = delete;

    private:
        Arrivals &arrivals_;
        Region &region_;
        bool was_coming_;
    };
    /* In a pause: what has not come stays with GPUs, in their twin. Throws Error if that could not be made. */
    void end(Region &region) PTSCHED_REQUIRES(region.mutex);
    /* The same of what nobody will use. */
    void forget(Region &region) PTSCHED_REQUIRES(region.mutex);

    /* The rest is for the host's helper. Whether what was asked for is to come; then it is answered. */
    bool take(HostSide::Asked &asked);
    /* Of what was taken, one that is not to come any more, or has come by another call; null: there is none. */
    HostSide::Asked *take_back();
    /* False: there is nothing to do. */
    bool go_on();

    /* One that is had for what comes; null: none. Who waited for another might do so for the end of this one. */
    Turn turn() const;

    std::uint64_t pages() const { return pages_.load(std::memory_order_relaxed); }

private:
    struct Coming {
        Region *region;
        Turn turn;
    };
    struct Flight {
        Extent *extent;
        PageRun run;
        std::unique_ptr<Work> work;
    };

    bool is_coming(const Region &region) const PTSCHED_REQUIRES(mutex_);
    std::optional<Coming> hold_one();
    void let_go(Region &region);
    bool begin_one(Region &region, const Turn &turn);
    void land();
    void landed(Extent &extent, PageRun run) PTSCHED_REQUIRES(extent.region.mutex);
    void fail(Region &region, const std::exception &error) PTSCHED_REQUIRES(region.mutex);
    PageRun free_at(const Extent &extent, std::size_t page) const;
    bool is_in_flight(const Region &region) const;
    std::pair<Extent *, PageRun> next_of(Region &region) PTSCHED_REQUIRES(region.mutex);

    GpuSide &gpus_;
    const MakeTurn &make_turn_;
    HostSide &host_;
    std::deque<Flight> flights_; /* of the helper, as who waits */
    std::vector<HostSide::Asked *> waiting_;
    std::atomic<std::uint64_t> pages_{0};
    mutable Mutex mutex_;
    std::condition_variable changed_;
    std::vector<Coming> coming_ PTSCHED_GUARDED_BY(mutex_);
};

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_COHERENCE_ARRIVALS_HPP */
