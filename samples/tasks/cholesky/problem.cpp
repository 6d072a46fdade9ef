// SPDX-License-Identifier: MIT
#include "samples/tasks/cholesky/problem.hpp"

namespace ptsched::cholesky {

namespace {

constexpr std::size_t most_on_host = 256; /* rows */
constexpr std::size_t rows_at_once = 64;

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
    samples::fill_at_random(matrix_, 1);
    samples::fill_at_random(vector_, 2);
    std::vector<double> product(of.rows());
    samples::in_parts(of.rows(), rows_at_once, [&](std::size_t first, std::size_t count) {
        for (std::size_t row = first; row < first + count; row++) {
            matrix_[of.at(row, row)] += static_cast<double>(of.rows());
            for (std::size_t column = row + 1; column < of.rows(); column++)
                matrix_[of.at(row, column)] = matrix_[of.at(column, row)];
        }
    });
    samples::in_parts(of.rows(), rows_at_once, [&](std::size_t first, std::size_t count) {
        for (std::size_t row = first; row < first + count; row++)
            for (std::size_t column = 0; column < of.rows(); column++)
                product[row] += matrix_[of.at(row, column)] * vector_[column];
    });
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
    samples::in_parts(rows, rows_at_once, [&](std::size_t first, std::size_t count) {
        for (std::size_t row = first; row < rows; row++)
            for (std::size_t column = first; column < std::min(first + count, row + 1); column++)
                inner[column] += factor[tiling.at(row, column)] * vector_[row];
    });
    samples::in_parts(rows, rows_at_once, [&](std::size_t first, std::size_t count) {
        for (std::size_t row = first; row < first + count; row++)
            for (std::size_t column = 0; column <= row; column++)
                outer[row] += factor[tiling.at(row, column)] * inner[column];
    });
    expected_.check(outer, "the factor " + by);
    if (!lower_.empty())
        expected_lower_.check(lower_of(tiling, factor), "the factor " + by);
}

} // namespace ptsched::cholesky
