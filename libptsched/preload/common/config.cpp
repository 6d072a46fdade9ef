// SPDX-License-Identifier: MIT
#include "libptsched/preload/common/config.hpp"

#include "libptsched/base/start_path.hpp"
#include "libptsched/preload/common/warn.hpp"
#include "libptsched/preload/loaded/c_library.hpp"

#include <cstdlib>
#include <cstring>

namespace ptsched::preload {
namespace {

Level level_of(const char *name)
{
    static constinit std::atomic<bool> warned{false};
    if (!name || !*name || std::strcmp(name, "preempt") == 0)
        return Level::preempt;
    if (std::strcmp(name, "slice") == 0)
        return Level::slice;
    if (std::strcmp(name, "gate") != 0)
        warn_once(warned, "PTSCHED_LEVEL=%s: must be gate, slice or preempt; using gate", name);
    return Level::gate;
}

/* An environment variable in us, in ns. */
std::uint64_t duration_ns(const char *name, std::uint64_t otherwise_us)
{
    const char *text = secure_getenv(name);
    return 1000 * (text && *text ? std::strtoull(text, nullptr, 10) : otherwise_us);
}

Config read_environment()
{
    Config result{};
    const char *disable = secure_getenv("PTSCHED_DISABLE");
    const char *log = secure_getenv("PTSCHED_LOG");
    const char *level = secure_getenv("PTSCHED_LEVEL");
    result.disabled = !has_glibc() || (disable && *disable && std::strcmp(disable, "0") != 0);
    result.debug = log && std::strcmp(log, "debug") == 0;
    if (const char *stats = secure_getenv("PTSCHED_STATS"))
        result.stats = strdup(start_path(stats).c_str());
    result.linger_ns = duration_ns("PTSCHED_LINGER_US", 150);
    result.drain_ns = duration_ns("PTSCHED_DRAIN_US", 500);
    result.level = level_of(level);
    return result;
}

} // namespace

const Config &config()
{
    static const Config the_config = read_environment();
    return the_config;
}

} // namespace ptsched::preload
