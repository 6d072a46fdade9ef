// SPDX-License-Identifier: MIT
#include "samples/tasks/saxpy/problem.hpp"

namespace ptsched::saxpy {

Problem::Problem(Shape of) : shape(of), x_(of.count), y_(of.count)
{
    samples::fill_at_random(x_, 1);
    samples::fill_at_random(y_, 2);
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
