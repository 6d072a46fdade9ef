/* SPDX-License-Identifier: MIT */
/*
 * Whether lighter programs may stay on the device during this program's turns (PTSCHED_ACQUIRE_ABOVE).
 *
 * They have it, by short time slices, as soon as the program leaves it idle. For a turn that keeps the device busy from
 * beginning to end that costs the program one switch of the hardware (H200: 0.15 ms), as taking them off does, and the
 * lighter ones two switches instead of 0.9 ms. But each pause in a turn costs the program two more, and to have them
 * taken off in the middle of it another two. So it is for programs whose turns hardly ever have pauses, which is learnt
 * from the last ones, and from what came of it.
 */
#ifndef PTSCHED_PRELOAD_TURN_ABOVE_HPP
#define PTSCHED_PRELOAD_TURN_ABOVE_HPP

#include <atomic>
#include <cstdint>

namespace ptsched::preload {

/* Of a device; host time in ns. The agent calls turn_ended(), any thread the rest. */
class Above {
public:
    /*
     * A thread has waited for its work, with so many submissions by then: what it submits after that in this turn came
     * after a pause. The turn may have ended before the thread comes to tell.
     */
    void settled(std::uint64_t submissions)
    {
        std::uint64_t none = never;
        if (submissions == ended_at_.load(std::memory_order_relaxed))
            return;
        settled_at_.compare_exchange_strong(none, submissions, std::memory_order_relaxed);
    }
    bool is_settled() const { return settled_at_.load(std::memory_order_relaxed) != never; }

    struct Turn {
        std::uint64_t gpu_ns;      /* of its work */
        std::uint64_t span_ns;     /* from its first submission to the end of the last */
        std::uint64_t submissions; /* of the program, so far */
        bool above;                /* others stayed on the device */
    };
    void turn_ended(const Turn &turn, std::uint64_t now);

    /* Whether turns have mostly been such that it is good. */
    bool is_good() const { return score_.load(std::memory_order_relaxed) >= all / 2; }
    /* Or not much less often than that. */
    bool is_bearable() const { return score_.load(std::memory_order_relaxed) >= all / 4; }
    /* Whether to ask for that now: not for one that comes right after another. */
    bool is_good_now(std::uint64_t now) const
    {
        return is_good() && !skipped_.load(std::memory_order_relaxed) &&
               now - ended_ns_.load(std::memory_order_relaxed) >= pause_ns;
    }

private:
    static constexpr std::uint64_t never = ~0ull;
    static constexpr unsigned all = 1000;
    static constexpr std::uint64_t pause_ns = 1000000;
    static constexpr unsigned rest_min = 8;

    std::atomic<std::uint64_t> settled_at_{never};
    std::atomic<std::uint64_t> ended_at_{0}; /* submissions by the end of the last turn */
    std::atomic<std::uint64_t> ended_ns_{0};
    std::atomic<unsigned> score_{0};   /* running average: in thousandths, of how many turns it would be good */
    std::atomic<unsigned> skipped_{0}; /* for so many turns yet it is not asked for */
    unsigned rest_{rest_min};          /* after the next failure */
    unsigned good_since_{0};           /* so many turns since the last one */
};

} // namespace ptsched::preload

#endif
