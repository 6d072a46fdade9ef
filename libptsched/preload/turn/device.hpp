/* SPDX-License-Identifier: MIT */
/* A GPU as the program uses it: what its threads and the agent tell each other of the turn that they have there. */
#ifndef PTSCHED_PRELOAD_TURN_DEVICE_HPP
#define PTSCHED_PRELOAD_TURN_DEVICE_HPP

#include "libptsched/base/linger.hpp"
#include "libptsched/client/acknowledged.hpp"
#include "libptsched/preload/meter/stall.hpp"
#include "libptsched/preload/turn/above.hpp"
#include "libptsched/preload/turn/asker.hpp"
#include "libptsched/preload/turn/attachment.hpp"
#include "libptsched/preload/turn/preemption.hpp"

#include <atomic>

namespace ptsched::preload {

/* In a submission only this state lets through without a further look. */
inline constexpr std::uint32_t fast_mask =
    PTSCHED_STATE_TURN | PTSCHED_STATE_CALLBACK | PTSCHED_STATE_EXACT | PTSCHED_STATE_DEAD;

class Device : public Attachment {
public:
    Device(unsigned index, CUdevice ordinal, const char *address, const char *name);

    /* Of the process; NULL: the last one. */
    Device *next() const { return next_.load(std::memory_order_acquire); }
    void set_next(Device *device) { next_.store(device, std::memory_order_release); }

    Asker asker;
    Preemption preemption;
    Stall stall;
    Linger linger;
    Above above;

    /* From now on submissions go straight through; says why, once. */
    void open_gate(const char *why);
    /* The same, where the scheduler, or the way to it, is lost. */
    void scheduler_is_gone();
    /* The same while a context cannot be used any more, until it has ended. */
    void open_gate_of_lost_context();
    void context_has_ended();

    /* Waits for the turn; opens the gate if none can be had. False: a signal has interrupted it. */
    bool ask_for_turn();
    /* Whether a thread waits for one, or has just got it. */
    bool is_asked_for() const { return acquiring_.load(std::memory_order_acquire); }

    /*
     * A submission goes ahead of the question for its turn, which has it until that has been asked; false: another one
     * has.
     */
    bool go_ahead() { return !ahead_.exchange(true, std::memory_order_acq_rel); }
    void turn_is_asked_for() { ahead_.store(false, std::memory_order_release); }

    /* Lighter ones were to stay on the device, and no longer. Returns whether that is new. */
    bool want_alone() { return !alone_wanted_.exchange(true, std::memory_order_acq_rel); }
    /* At the end of the turn: whether it was so. */
    bool was_alone_wanted() { return alone_wanted_.exchange(false, std::memory_order_relaxed); }

    /* There is a submission. Returns whether it is the first one of the turn. */
    bool turn_is_used(std::uint64_t now)
    {
        std::uint64_t none = 0;
        return first_submit_ns_.compare_exchange_strong(none, now, std::memory_order_relaxed);
    }
    bool has_used_turn() const { return first_submit_ns_.load(std::memory_order_relaxed) != 0; }
    /* At the end of the turn: when the first submission came; 0: there was none. */
    std::uint64_t take_first_submit_ns() { return first_submit_ns_.exchange(0, std::memory_order_relaxed); }
    void submits_at(std::uint64_t now) { last_submit_ns_.store(now, std::memory_order_relaxed); }
    std::uint64_t last_submit_ns() const { return last_submit_ns_.load(std::memory_order_relaxed); }

    /* Work in flight may wait for the host (WATCH), until the turn has ended. */
    void may_wait_for_host() { waits_for_host_.store(true, std::memory_order_relaxed); }
    void waits_no_more_for_host() { waits_for_host_.store(false, std::memory_order_relaxed); }
    bool waits_for_host() const { return waits_for_host_.load(std::memory_order_relaxed); }

    /* The program submits, and is to be looked at now and then whether it still does. Returns whether that is new. */
    bool begin_activity() { return !rest_unreported_.exchange(true, std::memory_order_acq_rel); }
    void end_activity() { rest_unreported_.store(false, std::memory_order_release); }
    bool is_active() const { return rest_unreported_.load(std::memory_order_acquire); }

    /* A thread waits with a submission: an idle device is not given back, since it is about to submit. */
    void hold_back() { held_back_.fetch_add(1, std::memory_order_acquire); }
    void held_back_no_more() { held_back_.fetch_sub(1, std::memory_order_release); }
    bool holds_back() const { return held_back_.load(std::memory_order_acquire); }

    /*
     * The agent is about to release: no submission may begin. Who looks by the fast path has a heavy barrier instead of
     * the order.
     */
    void close_to_submissions() { closing_.store(true, std::memory_order_seq_cst); }
    void open_for_submissions() { closing_.store(false, std::memory_order_release); }
    bool is_closing() const { return closing_.load(std::memory_order_seq_cst); }
    bool is_closing_fast() const { return closing_.load(std::memory_order_acquire); }

    /* The agent changed something that submitters wait for, unless it has done so since changes() was @seen. */
    void announce_change();
    std::uint32_t changes() const { return changes_.load(std::memory_order_acquire); }
    void wait_for_change(std::uint32_t seen, std::uint64_t at_most_ns);

    /* The agent's own. */
    struct AgentState {
        Acknowledged acknowledged;
        std::uint64_t here_since{0}; /* first looked after in a turn */
        std::uint64_t idle_since{0};
        std::uint64_t busy_seen_ns{0};
        std::uint64_t backoff_ns{0};
        std::uint64_t submissions_seen{0};
        std::uint64_t rests_since{0}; /* when that was seen to change, or that something was in flight */
        std::uint64_t demanded_ns{0}; /* since when the work in flight is to leave at once */
        unsigned others_part{0};      /* while others have the turn, too: one in so many of what passes is theirs */
        bool told_drain{false};       /* the next turn begins without waiting for our release */
    } agent;

private:
    bool go_on_unscheduled();
    bool get_next_turn();
    /* Whether lighter ones may stay on the device during a turn that is asked for now. */
    bool tolerates(std::uint64_t now) const
    {
        return preemption.time_slice() == TimeSlice::lasting && above.is_good_now(now) &&
               !alone_wanted_.load(std::memory_order_relaxed);
    }

    std::atomic<bool> closing_{false};
    std::atomic<std::uint32_t> changes_{0}; /* futex */
    std::atomic<bool> waits_for_host_{false};
    std::atomic<bool> rest_unreported_{false};
    std::atomic<std::uint64_t> last_submit_ns_{0};
    std::atomic<std::uint64_t> first_submit_ns_{0}; /* of this turn */
    std::atomic<bool> alone_wanted_{false};
    std::atomic<bool> ahead_{false};
    std::atomic<std::uint32_t> held_back_{0}; /* threads */
    std::atomic<std::uint32_t> acquiring_{0}; /* threads */
    std::atomic<bool> open_for_lost_context_{false};
    std::atomic<Device *> next_{nullptr};
};

} // namespace ptsched::preload

#endif
