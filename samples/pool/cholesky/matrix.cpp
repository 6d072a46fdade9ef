// SPDX-License-Identifier: MIT
#include "samples/pool/cholesky/matrix.hpp"

#include "samples/pool/cholesky/steps.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>

namespace ptsched::cholesky {

namespace {

std::size_t bytes_of(unsigned n)
{
    return std::size_t{n} * n * sizeof(double);
}

std::string text(double number)
{
    std::ostringstream stream;
    stream << number;
    return stream.str();
}

} // namespace

Matrix::Matrix(device::Device &gpu, unsigned n)
    : n_(n), queue_(gpu.make_queue()), original_(device::Allocation::on_device(gpu, bytes_of(n))),
      memory_(device::Allocation::on_device(gpu, ::cholesky::elements(n) * sizeof(double))), vector_(n), product_(n)
{
    std::mt19937 source(n);
    std::uniform_real_distribution<double> values(-1, 1);
    std::vector<double> matrix(std::size_t{n} * n);
    std::generate(vector_.begin(), vector_.end(), [&] { return values(source); });
    for (std::size_t row = 0; row < n; row++)
        for (std::size_t column = 0; column <= row; column++)
            matrix[row * n + column] = matrix[column * n + row] = values(source) + (row == column ? n : 0);
    for (std::size_t row = 0; row < n; row++)
        for (std::size_t column = 0; column < n; column++)
            product_[row] += matrix[row * n + column] * vector_[column];
    queue_->upload(original_.address(), matrix.data(), bytes_of(n));
    queue_->finish();
}

void Matrix::restore()
{
    queue_->copy(memory_.address(), original_.home(), original_.address(), bytes_of(n_));
    queue_->finish();
}

void Matrix::check(const std::string &by)
{
    std::vector<double> factor(std::size_t{n_} * n_), inner(n_), outer(n_);
    queue_->download(factor.data(), memory_.address(), bytes_of(n_));
    queue_->finish();
    for (std::size_t row = 0; row < n_; row++)
        for (std::size_t column = 0; column <= row; column++)
            inner[column] += factor[row * n_ + column] * vector_[row];
    for (std::size_t row = 0; row < n_; row++)
        for (std::size_t column = 0; column <= row; column++)
            outer[row] += factor[row * n_ + column] * inner[column];
    double worst = 0, largest = 0;
    for (std::size_t row = 0; row < n_; row++) {
        const double error = std::abs(outer[row] - product_[row]);
        worst = error <= worst ? worst : error; /* what is not a number, too */
        largest = std::max(largest, std::abs(product_[row]));
    }
    const double relative = worst / largest, tolerance = 1e-14 * n_;
    if (!(relative <= tolerance))
        throw Error("the factor of " + by + ", of " + std::to_string(n_) + " rows, is wrong: by " + text(relative) +
                    " of the largest element of a product, and at most " + text(tolerance) + " is rounding");
}

} // namespace ptsched::cholesky
