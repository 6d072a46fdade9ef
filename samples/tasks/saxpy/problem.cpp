// SPDX-License-Identifier: MIT
#include "samples/tasks/saxpy/problem.hpp"

#include <algorithm>
#include <random>

namespace ptsched::saxpy {

Problem::Problem(Shape of) : shape(of), x_(of.count), y_(of.count)
{
    std::minstd_rand source(1);
    std::uniform_real_distribution<float> values(-1, 1);
    std::generate(x_.begin(), x_.end(), [&] { return values(source); });
    std::generate(y_.begin(), y_.end(), [&] { return values(source); });
    std::vector<float> sum(y_);
    for (std::size_t i = 0; i < of.count; i++)
        sum[i] += a * x_[i];
    expected_.set(std::move(sum));
}

void Problem::restore(float *x, float *y) const
{
    samples::copy_all(x_, x);
    samples::copy_all(y_, y);
}

} // namespace ptsched::saxpy
