/* SPDX-License-Identifier: MIT */
/* Random numbers that are the same with every standard library, whose distributions are not. */
#ifndef PTSIM_RANDOM_HPP
#define PTSIM_RANDOM_HPP

#include <cmath>
#include <cstdint>
#include <numbers>

namespace ptsim {

class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    /* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
    std::uint64_t bits()
    {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }

    /* Less than @n; what the division favours is below 2^-40 for all that is simulated. */
    std::uint64_t below(std::uint64_t n) { return bits() % n; }

    /* Above 0, 1 at most. */
    double unit() { return (static_cast<double>(bits() >> 11) + 1) / 9007199254740992.0; }

    double exponential(double mean) { return -mean * std::log(unit()); }

    double lognormal(double median, double sigma)
    {
        const double radius = std::sqrt(-2 * std::log(unit()));
        return median * std::exp(sigma * radius * std::cos(2 * std::numbers::pi * unit()));
    }

private:
    std::uint64_t state_;
};

} // namespace ptsim

#endif
