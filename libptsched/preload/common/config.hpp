/* SPDX-License-Identifier: MIT */
/* What the environment says; read once. libptsched-preload(7) describes the variables. */
#ifndef PTSCHED_PRELOAD_COMMON_CONFIG_HPP
#define PTSCHED_PRELOAD_COMMON_CONFIG_HPP

#include <cstdint>

#define PTSCHED_EXPORT __attribute__((visibility("default")))

namespace ptsched::preload {

/* How decisions are enforced; each includes what is before it. */
enum class Level { gate, slice, preempt };

struct Config {
    bool disabled;           /* PTSCHED_DISABLE */
    bool debug;              /* PTSCHED_LOG=debug */
    const char *stats;       /* PTSCHED_STATS, absolute; NULL: none */
    std::uint64_t linger_ns; /* PTSCHED_LINGER_US */
    std::uint64_t drain_ns;  /* PTSCHED_DRAIN_US */
    Level level;             /* PTSCHED_LEVEL: the best that may be used */
};

const Config &config();

} // namespace ptsched::preload

#endif
