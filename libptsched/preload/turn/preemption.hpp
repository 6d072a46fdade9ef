/* SPDX-License-Identifier: MIT */
/*
 * What can be done on one device beyond holding submissions back, the best that was found to work:
 *
 *   slice    while somebody weighs more, the hardware's time slice of this process is short, so that the other's work
 *            gets onto the device at once
 *   preempt  and for somebody heavier a turn ends with work in flight, which is off the hardware until the next turn
 *
 * Without them a called-back turn ends when the work in flight has drained, however long that takes. While a program is
 * off, its own synchronise calls take longer, and nothing else changes for it. The asker asks for the next turn.
 */
#ifndef PTSCHED_PRELOAD_TURN_PREEMPTION_HPP
#define PTSCHED_PRELOAD_TURN_PREEMPTION_HPP

#include "libptsched/preload/common/config.hpp"
#include "libptsched/preload/common/mutex.hpp"
#include "libptsched/preload/turn/switch_trial.hpp"

#include <atomic>
#include <cstdint>
#include <string>

struct ptsched_usage;

namespace ptsched::preload {

class Asker;
class Attachment;

/* On the hardware: the driver's own; short, so that others get onto the device soon; long, so that none does. */
enum class TimeSlice { usual, brief, lasting };

class Preemption {
public:
    /* @asker: for the next turns of a program whose work is off. */
    Preemption(Attachment &device, Asker &asker) : device_(device), asker_(asker) {}

    /*
     * Finds out what works on this device, the switch by its effect, and tells the scheduler; nothing if that is known.
     * In a turn. Takes some milliseconds; longer where the program's work is in the way: then it is tried again later.
     * Where channels are shared with other programs, nothing is tried: who leaves them room is at level slice.
     */
    void find_level();

    /* Sets the time slice; nothing if it is that already. Only the agent may. */
    void adjust_slice(TimeSlice wanted);

    bool was_tried() const { return tried_.load(std::memory_order_relaxed); }

    struct Found {
        Level level;
        std::string why; /* not a better one; empty: there is none */
    };
    Found found();

    /* By the last that was set; usual if that was refused. */
    TimeSlice time_slice() const { return slice_.load(std::memory_order_relaxed); }

    bool can_take_off() const { return level_.load(std::memory_order_relaxed) == Level::preempt; }

    /*
     * Off the hardware; false: not possible (any more), and nothing is off. @submitting: a thread may be inside a
     * submission, which goes on: it ends up behind what is off. It may hold the meter's lock, and wait in the driver
     * for what is off: @usage, to be released with, is taken before.
     */
    bool take_off(bool submitting, ptsched_usage &usage);

    /* On again, if it is off. Any thread may call it, if the program has a turn or goes on without one. */
    void put_back();
    /* The same for who goes on even if there is no memory to do it with. */
    void try_put_back();
    /* The same for one that may have lost its CPU since it saw the turn. */
    void put_back_in_turn();

    /*
     * Between these a context ends: on again, and not taken off. Its end waits for its work.
     */
    void context_ends();
    void context_ended() { ending_.fetch_sub(1, std::memory_order_release); }

    /* On again, unless it is this process that wants it off: what the helper had switched off by itself. */
    void helper_is_gone();

    bool is_off() const { return off_.load(std::memory_order_acquire); }

    /* How long taking off takes, ns; an average, 0 before the first time. */
    std::uint64_t cost_ns() const { return cost_ns_.load(std::memory_order_relaxed); }

private:
    void switch_on() PTSCHED_REQUIRES(lock_);
    std::string try_slice() PTSCHED_REQUIRES(lock_);
    Trial try_preempt() PTSCHED_REQUIRES(lock_);
    bool must_try(std::uint64_t births) const PTSCHED_REQUIRES(lock_);
    void try_again_later() PTSCHED_REQUIRES(lock_);
    void find_shared_level() PTSCHED_REQUIRES(lock_);
    void set_level(Level level, const std::string &why) PTSCHED_REQUIRES(lock_);

    Attachment &device_;
    Asker &asker_;
    PriorityInheritanceMutex lock_;
    std::atomic<Level> level_{Level::gate};
    std::string why_ PTSCHED_GUARDED_BY(lock_); /* not a better one */
    std::atomic<bool> tried_{false};
    std::uint64_t again_ns_ PTSCHED_GUARDED_BY(lock_) = 0;       /* when it is tried again; 0: not by itself */
    std::uint64_t again_after_ns_ PTSCHED_GUARDED_BY(lock_) = 0; /* and how long that is after the last time */
    /* What was last set, or tried to be set. */
    TimeSlice wanted_slice_ PTSCHED_GUARDED_BY(lock_) = TimeSlice::usual;
    std::atomic<TimeSlice> slice_{TimeSlice::usual};
    std::uint64_t births_ PTSCHED_GUARDED_BY(lock_) = 0; /* of channels, when the slice was last set or tried */
    std::atomic<bool> off_{false};
    std::atomic<unsigned> ending_{0};                      /* contexts */
    bool all_measured_ PTSCHED_GUARDED_BY(lock_) = false;  /* of what is off */
    std::uint64_t off_turn_ PTSCHED_GUARDED_BY(lock_) = 0; /* whose work is off */
    std::atomic<std::uint64_t> cost_ns_{0};
};

} // namespace ptsched::preload

#endif
