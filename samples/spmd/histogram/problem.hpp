/* SPDX-License-Identifier: MIT */
/* How many numbers there are in each of some ranges: each rank has some numbers. */
#ifndef SAMPLES_SPMD_HISTOGRAM_PROBLEM_HPP
#define SAMPLES_SPMD_HISTOGRAM_PROBLEM_HPP

#include "samples/spmd/common/forward.hpp"
#include "samples/spmd/common/input.hpp"
#include "samples/spmd/common/ranks.hpp"
#include "samples/spmd/histogram/sizes.h"

#include <array>

namespace ptsched::samples::histogram {

struct Shape {
    std::size_t numbers;
};

using Counts = std::array<std::uint64_t, bins>;

/* Neighbours go to counts of their own: the next need not wait for the one before. */
inline void count_numbers(const std::uint32_t *numbers, std::size_t many, std::uint64_t *counts)
{
    constexpr std::size_t ways = 4;
    std::array<std::array<std::uint32_t, bins>, ways> own = {};
    std::size_t i = 0;
    for (; i + ways <= many; i += ways)
        for (std::size_t way = 0; way < ways; way++)
            own[way][numbers[i + way] >> shift]++;
    for (; i < many; i++)
        own[0][numbers[i] >> shift]++;
    for (std::size_t bin = 0; bin < bins; bin++)
        counts[bin] += std::uint64_t{own[0][bin]} + own[1][bin] + own[2][bin] + own[3][bin];
}

class Problem {
public:
    Problem(const Ranks &ranks, Shape shape);
    const Ranks &ranks;
    const Shape shape;
    const Share share; /* numbers of this rank */
    std::span<const std::uint32_t> numbers() const { return all_numbers().subspan(share.first, share.count); }
    std::span<const std::uint32_t> all_numbers() const { return numbers_.all(); } /* of all ranks */
    void check(const Counts &counts, const std::string &by) { expected_.check(counts, "the histogram " + by); }

private:
    const Elements<std::uint32_t> numbers_;
    Expected<std::uint64_t> expected_{0};
};

std::unique_ptr<Way> by_openmp(Problem &problem);
std::unique_ptr<Way> by_cuda(Problem &problem, const std::string &module);
std::unique_ptr<SpmdWay> by_spmd(Problem &problem, const SpmdSettings &settings, const Mode &mode);

} // namespace ptsched::samples::histogram

#endif /* SAMPLES_SPMD_HISTOGRAM_PROBLEM_HPP */
