/* SPDX-License-Identifier: MIT */
/*
 * Graphs of a process that use the same device. While there are several, what all of them have on it is bounded, and
 * each begins runs there in proportion to the priorities of its tasks, by clocks as in Arbiter. Nobody is kept from
 * beginning while the device has little to do.
 */
#ifndef PTSCHED_PTASK_RIVALS_HPP
#define PTSCHED_PTASK_RIVALS_HPP

#include "device.hpp"

#include <atomic>
#include <mutex>
#include <vector>

namespace ptsched::ptask {

class Rival {
public:
    /* Runs of all: that a graph need not ask for, and that there are at most. */
    static constexpr unsigned few = 32, most = 128;

    explicit Rival(const device::Device &device);
    ~Rival() { leave(); }
    Rival(const Rival &) = delete;
    Rival &operator=(const Rival &) = delete;

    bool alone() const { return device_.count.load(std::memory_order_relaxed) < 2; }
    /* Who is told no asks again. */
    bool may_begin() { return alone() || is_next(); }
    /* @charge: the run's time over its weight. */
    void begin(double charge);
    /* Nothing is left that it was asked for, or that began elsewhere. */
    void rest();
    void ended() { runs_.store(runs_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed); }
    /* For good. */
    void leave();

private:
    struct Shared {
        std::mutex mutex; /* protects what follows, and clocks and who wants to begin runs */
        std::vector<Rival *> rivals;
        double mean_charge = 0;
        std::atomic<unsigned> count{0}; /* of rivals */
    };

    static Shared &shared_by(const device::Device &device);
    bool is_next();

    Shared &device_;
    std::atomic<unsigned> runs_{0}; /* only the graph's thread changes it */
    double clock_ = 0;
    bool wants_ = false; /* to begin runs; only the graph's thread changes it */
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_RIVALS_HPP */
