/* SPDX-License-Identifier: MIT */
/*
 * Level "preempt" of one device: a turn ends with work in flight, which is off the hardware until the next turn.
 *
 * Without it a called-back turn ends when the work in flight has drained, however long that takes. While a program is
 * off, its own synchronise calls take longer, and nothing else changes for it. A thread of ours asks for the next turn,
 * since the program may have none that submits.
 */
#ifndef PTSCHED_PRELOAD_PREEMPTION_HPP
#define PTSCHED_PRELOAD_PREEMPTION_HPP

#include <atomic>
#include <cstdint>
#include <mutex>

namespace ptsched::preload {

class Device;

class Preemption {
public:
    /*
     * Whether the switch works on this device: tried the first time, by its effect. Only the agent may ask, in a turn;
     * takes some milliseconds then.
     */
    bool works(Device &device);

    /* Off the hardware; false: not possible (any more), and nothing is off. Submitters must be out of their windows. */
    bool take_off(Device &device);

    /* On again, if it is off. Any thread may call it: in a new turn, or because the program goes on without one. */
    void put_back(Device &device);

    /* Has the next turn asked for, since what is off shall go on. */
    void ask_for_next_turn();

    bool is_off() const { return off_.load(std::memory_order_acquire); }

    /* How long taking off takes, ns; an average, 0 before the first time. */
    std::uint64_t cost_ns() const { return cost_ns_.load(std::memory_order_relaxed); }

private:
    enum class Level { untried, gate, preempt };

    bool try_it(Device &device);
    static void *resume(void *device);

    std::mutex lock_;
    Level level_{Level::untried};
    std::atomic<bool> off_{false};
    bool all_measured_{false};                /* of what is off */
    std::atomic<std::uint32_t> times_off_{0}; /* what the resumer waits for */
    std::atomic<std::uint64_t> cost_ns_{0};
};

} // namespace ptsched::preload

#endif
