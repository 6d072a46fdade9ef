/* SPDX-License-Identifier: MIT */
#ifndef PTSIM_UNITS_HPP
#define PTSIM_UNITS_HPP

#include <cstdint>

namespace ptsim {

/* Simulated time, and GPU time. */
using Ns = std::uint64_t;

constexpr Ns kUs = 1000;
constexpr Ns kMs = 1000 * kUs;
constexpr Ns kSecond = 1000 * kMs;
constexpr Ns kMinute = 60 * kSecond;
constexpr Ns kHour = 60 * kMinute;
constexpr Ns kNever = ~Ns{0};

} // namespace ptsim

#endif
