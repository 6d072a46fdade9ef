// SPDX-License-Identifier: MIT
#include "samples/spmd/histogram/problem.hpp"

namespace ptsched::samples::histogram {

namespace {

constexpr std::size_t most_in_sequence = std::size_t{1} << 20; /* numbers */

/* The less of two: some ranges have more than others. */
std::uint32_t number_at(std::size_t place)
{
    const std::uint64_t bits = bits_at(1, place);
    return std::min(static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32));
}

} // namespace

Problem::Problem(const Ranks &of, Shape with)
    : ranks(of), shape(with), share(of.share(with.numbers)), numbers_(0, with.numbers, number_at)
{
    if (!of.is_first() || with.numbers > most_in_sequence)
        return;
    std::vector<std::uint64_t> counts(bins);
    for (std::size_t i = 0; i < with.numbers; i++)
        counts[number_at(i) >> shift]++;
    expected_.set(std::move(counts));
}

} // namespace ptsched::samples::histogram
