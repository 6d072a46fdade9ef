// SPDX-License-Identifier: MIT
#include "libptsched/preload/common/stats.hpp"

#include "libptsched/base/standard_error.hpp"
#include "libptsched/preload/common/config.hpp"
#include "libptsched/preload/common/debug.hpp"
#include <ptsched/base/fd.hpp>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace ptsched::preload {

constinit Counters counters;

void write_stats(std::uint64_t submissions)
{
    if (!config().stats && !config().debug)
        return;
    auto value = [](const std::atomic<std::uint64_t> &counter) { return counter.load(std::memory_order_relaxed); };
    char line[512];
    int length = std::snprintf(
        line, sizeof(line),
        "{\"pid\": %d, \"submissions\": %" PRIu64 ", \"measured\": %" PRIu64 ", \"estimated\": %" PRIu64
        ", \"waits\": %" PRIu64 ", \"wait_ns\": %" PRIu64 ", \"ahead\": %" PRIu64 ", \"turns\": %" PRIu64
        ", \"above\": %" PRIu64 ", \"gpu_ns\": %" PRIu64 ", \"captured\": %" PRIu64 ", \"let_through\": %" PRIu64
        ", \"preemptions\": %" PRIu64 ", \"driver_errors\": %" PRIu64 ", \"unknown\": %" PRIu64 "}\n",
        getpid(), submissions, value(counters.measured), value(counters.estimated), value(counters.waits),
        value(counters.wait_ns), value(counters.ahead), value(counters.turns), value(counters.above),
        value(counters.gpu_ns), value(counters.captured), value(counters.through), value(counters.preemptions),
        value(counters.driver_errors), value(counters.unknown));
    if (length <= 0 || static_cast<std::size_t>(length) >= sizeof(line))
        return;
    if (config().stats) {
        UniqueFd file = above_streams(open(config().stats, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
        /* One write, so that lines of several processes do not mix. */
        while (file && write(file.get(), line, static_cast<std::size_t>(length)) < 0 && errno == EINTR) {
        }
    }
    debug("%.*s", length - 1, line);
}

} // namespace ptsched::preload
