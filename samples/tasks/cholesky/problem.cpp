// SPDX-License-Identifier: MIT
#include "samples/tasks/cholesky/problem.hpp"

#include <algorithm>
#include <random>

namespace ptsched::cholesky {

namespace {

constexpr std::size_t most_on_host = 256; /* rows */

std::vector<double> lower_of(const Tiling &tiling, std::span<const double> matrix)
{
    std::vector<double> lower;
    for (std::size_t row = 0; row < tiling.rows(); row++)
        for (std::size_t column = 0; column <= row; column++)
            lower.push_back(matrix[tiling.at(row, column)]);
    return lower;
}

} // namespace

Problem::Problem(Tiling of) : tiling(of), matrix_(of.elements()), vector_(of.rows())
{
    std::minstd_rand source(1);
    std::uniform_real_distribution<double> values(-1, 1);
    std::generate(vector_.begin(), vector_.end(), [&] { return values(source); });
    std::vector<double> product(of.rows());
    for (std::size_t row = 0; row < of.rows(); row++)
        for (std::size_t column = 0; column <= row; column++) {
            const double value = values(source) + (row == column ? static_cast<double>(of.rows()) : 0);
            matrix_[of.at(row, column)] = matrix_[of.at(column, row)] = value;
            product[row] += value * vector_[column];
            if (column < row)
                product[column] += value * vector_[row];
        }
    expected_.set(std::move(product));
    if (of.rows() <= most_on_host)
        factor_on_host();
}

void Problem::factor_on_host()
{
    std::vector<double> l(matrix_);
    const std::size_t rows = tiling.rows();
    for (std::size_t k = 0; k < rows; k++) {
        l[tiling.at(k, k)] = std::sqrt(l[tiling.at(k, k)]);
        for (std::size_t row = k + 1; row < rows; row++)
            l[tiling.at(row, k)] /= l[tiling.at(k, k)];
        for (std::size_t row = k + 1; row < rows; row++)
            for (std::size_t column = k + 1; column <= row; column++)
                l[tiling.at(row, column)] -= l[tiling.at(row, k)] * l[tiling.at(column, k)];
    }
    lower_ = lower_of(tiling, l);
    expected_lower_.set(lower_);
}

void Problem::restore(double *matrix) const
{
    samples::copy_all(matrix_, matrix);
}

void Problem::check(std::span<const double> factor, const std::string &by)
{
    const std::size_t rows = tiling.rows();
    std::vector<double> inner(rows), outer(rows);
    for (std::size_t row = 0; row < rows; row++)
        for (std::size_t column = 0; column <= row; column++)
            inner[column] += factor[tiling.at(row, column)] * vector_[row];
    for (std::size_t row = 0; row < rows; row++)
        for (std::size_t column = 0; column <= row; column++)
            outer[row] += factor[tiling.at(row, column)] * inner[column];
    expected_.check(outer, "the factor " + by);
    if (!lower_.empty())
        expected_lower_.check(lower_of(tiling, factor), "the factor " + by);
}

} // namespace ptsched::cholesky
