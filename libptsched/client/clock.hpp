// SPDX-License-Identifier: MIT
#ifndef PTSCHED_CLIENT_CLOCK_HPP
#define PTSCHED_CLIENT_CLOCK_HPP

#include <cstdint>
#include <ctime>

namespace ptsched {

inline uint64_t monotonic_ns()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

} // namespace ptsched

#endif
