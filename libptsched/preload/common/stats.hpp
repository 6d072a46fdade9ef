/* SPDX-License-Identifier: MIT */
/* What the interposer counts, and tells the user at exit. */
#ifndef PTSCHED_PRELOAD_COMMON_STATS_HPP
#define PTSCHED_PRELOAD_COMMON_STATS_HPP

#include <atomic>
#include <cstdint>

namespace ptsched::preload {

struct Counters {
    std::atomic<std::uint64_t> measured{0};  /* submissions with timing events around them */
    std::atomic<std::uint64_t> estimated{0}; /* those charged at what their like have taken */
    std::atomic<std::uint64_t> waits{0};     /* submissions that waited for the turn */
    std::atomic<std::uint64_t> wait_ns{0};
    std::atomic<std::uint64_t> ahead{0}; /* submissions that came before the question for the turn */
    std::atomic<std::uint64_t> turns{0}; /* turns given back */
    std::atomic<std::uint64_t> above{0}; /* of these, with lighter ones left on the device */
    std::atomic<std::uint64_t> gpu_ns{0};
    std::atomic<std::uint64_t> captured{0};      /* submissions that went into a graph */
    std::atomic<std::uint64_t> through{0};       /* let through to end a stall */
    std::atomic<std::uint64_t> preemptions{0};   /* times that work in flight was taken off the hardware */
    std::atomic<std::uint64_t> driver_errors{0}; /* answers to our own calls */
    std::atomic<std::uint64_t> unknown{0};       /* submissions that entry_points.def does not know */
};

extern Counters counters;

/* To PTSCHED_STATS and, with PTSCHED_LOG=debug, to standard error. */
void write_stats(std::uint64_t submissions);

} // namespace ptsched::preload

#endif
