// SPDX-License-Identifier: MIT
#include "samples/spmd/gemv/problem.hpp"

namespace ptsched::samples::gemv {

namespace {

constexpr std::size_t most_in_sequence = std::size_t{1} << 22; /* elements of A */

float a_at(std::size_t place)
{
    return random_at<float>(1, place);
}

float x_at(std::size_t place)
{
    return random_at<float>(2, place);
}

} // namespace

Problem::Problem(const Ranks &of, Shape with)
    : ranks(of), shape(with), share(of.share(with.rows)), a_(0, with.rows * with.columns, a_at),
      x_(0, with.columns, x_at)
{
    if (!of.is_first() || with.rows * with.columns > most_in_sequence)
        return;
    std::vector<float> y;
    for (std::size_t row = 0; row < with.rows; row++) {
        double sum = 0;
        for (std::size_t column = 0; column < with.columns; column++)
            sum += static_cast<double>(a_at(row * with.columns + column)) * x_at(column);
        y.push_back(static_cast<float>(sum));
    }
    expected_.set(std::move(y));
}

} // namespace ptsched::samples::gemv
