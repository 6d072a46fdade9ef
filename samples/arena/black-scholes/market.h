/* SPDX-License-Identifier: MIT */
#ifndef SAMPLES_ARENA_BLACK_SCHOLES_MARKET_H
#define SAMPLES_ARENA_BLACK_SCHOLES_MARKET_H

namespace ptsched::black_scholes {

constexpr unsigned int underlyings = 4096, threads = 256;

/* What both sides have to know at any time: the host moves it, kernels price options by it. */
struct Market {
    float rate;
    float price[underlyings], volatility[underlyings];
};

} // namespace ptsched::black_scholes

#endif /* SAMPLES_ARENA_BLACK_SCHOLES_MARKET_H */
