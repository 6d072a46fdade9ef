/* SPDX-License-Identifier: MIT */
/* Milliseconds of the driver, and host time in ns. */
#ifndef PTSCHED_PRELOAD_METER_RECKONING_HPP
#define PTSCHED_PRELOAD_METER_RECKONING_HPP

#include <cstdint>

namespace ptsched::preload {

inline std::uint64_t to_ns(double ms)
{
    return ms > 0 ? static_cast<std::uint64_t>(ms * 1e6) : 0;
}

inline double to_ms(std::uint64_t ns)
{
    return static_cast<double>(ns) / 1e6;
}

/* From the one until the other, if that is later. */
inline std::uint64_t behind(std::uint64_t ns, std::uint64_t before)
{
    return ns > before ? ns - before : 0;
}

} // namespace ptsched::preload

#endif
