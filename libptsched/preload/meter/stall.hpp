/* SPDX-License-Identifier: MIT */
/*
 * Whether work in flight may be waiting for a submission that is held back.
 *
 * A kernel may spin on a flag that the host, or a later kernel of another stream, will set. Holding back what comes
 * after it until it has completed would then be for ever. So where nothing completes for far longer than is known of
 * anything in flight, a few submissions go through; if that did not help, a few more after twice the time.
 */
#ifndef PTSCHED_PRELOAD_METER_STALL_HPP
#define PTSCHED_PRELOAD_METER_STALL_HPP

#include "libptsched/preload/common/mutex.hpp"

#include <cstdint>

namespace ptsched::preload {

class Stall {
public:
    /* Nothing has been seen to wait for the host that took less; and so long a wait is that it did. */
    static constexpr std::uint64_t patience_ns = 100000000;
    /* What completes within this time of a submission that was let through has been waiting for it. */
    static constexpr std::uint64_t effect_ns = 20000000;

    /*
     * At @now, for a submission that has been held back since @since; @completed: how much work has ended until now;
     * @expected_ns: what is known of the longest in flight, 0: nothing.
     */
    bool lets_through(std::uint64_t now, std::uint64_t since, std::uint64_t completed, std::uint64_t expected_ns);

private:
    static constexpr unsigned a_few = 16;

    PriorityInheritanceMutex lock_;
    std::uint64_t completed_ PTSCHED_GUARDED_BY(lock_) = 0;
    /* When that was seen to grow, or when a few were last let through. */
    std::uint64_t progress_ns_ PTSCHED_GUARDED_BY(lock_) = 0;
    std::uint64_t factor_ PTSCHED_GUARDED_BY(lock_) = 1;
    std::uint64_t until_ns_ PTSCHED_GUARDED_BY(lock_) = 0; /* until then, so many go through */
    unsigned left_ PTSCHED_GUARDED_BY(lock_) = 0;
};

} // namespace ptsched::preload

#endif
