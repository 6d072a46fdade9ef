// SPDX-License-Identifier: MIT
#include "samples/tasks/gemm/problem.hpp"

#include "samples/tasks/common/blas.h"

namespace ptsched::gemm {

namespace {

constexpr std::size_t most_on_host = 256; /* rows */

/* The product of a matrix and a vector. */
std::vector<double> product(const Tiling &tiling, std::span<const double> matrix, std::span<const double> vector)
{
    std::vector<double> made(tiling.rows());
    samples::in_parts(tiling.rows(), 64, [&](std::size_t first, std::size_t count) {
        for (std::size_t row = first; row < first + count; row++)
            for (std::size_t column = 0; column < tiling.rows(); column++)
                made[row] += matrix[tiling.at(row, column)] * vector[column];
    });
    return made;
}

} // namespace

Multiply::Multiply(const samples::Settings &settings) : kernel_(settings.module, "multiply")
{
    if (settings.hand.empty())
        return;
    library_.emplace(settings.hand);
    by_blas_ = library_->find<decltype(blas_multiply)>("blas_multiply");
}

Multiply::~Multiply()
{
    if (library_)
        library_->find<decltype(blas_forget)>("blas_forget")();
}

void Multiply::operator()(CUstream stream, unsigned n, const double *a, const double *b, double *c) const
{
    if (by_blas_) {
        samples::check_hand(by_blas_(stream, n, a, b, c));
        return;
    }
    constexpr unsigned threads = 8;
    const unsigned blocks = (n + threads - 1) / threads;
    samples::driver::launch(kernel_.here(), stream, {blocks, blocks}, {threads, threads}, a, b, c, n);
}

Problem::Problem(Tiling of) : tiling(of), a_(of.elements()), b_(of.elements()), c_(of.elements()), vector_(of.rows())
{
    samples::fill_at_random(a_, 1);
    samples::fill_at_random(b_, 2);
    samples::fill_at_random(c_, 3);
    samples::fill_at_random(vector_, 4);

    std::vector<double> expected = product(of, a_, product(of, b_, vector_));
    const std::vector<double> rest = product(of, c_, vector_);
    for (std::size_t i = 0; i < expected.size(); i++)
        expected[i] += rest[i];
    if (of.rows() <= most_on_host) { /* all of it, and not only what it does to one vector */
        expected = c_;
        for (std::size_t row = 0; row < of.rows(); row++)
            for (std::size_t column = 0; column < of.rows(); column++)
                for (std::size_t i = 0; i < of.rows(); i++)
                    expected[of.at(row, column)] += a_[of.at(row, i)] * b_[of.at(i, column)];
    }
    expected_.set(std::move(expected));
}

void Problem::restore(double *a, double *b, double *c) const
{
    samples::copy_all(a_, a);
    samples::copy_all(b_, b);
    samples::copy_all(c_, c);
}

void Problem::check(std::span<const double> c, const std::string &by)
{
    if (tiling.rows() <= most_on_host)
        expected_.check(c, "the product " + by);
    else
        expected_.check(product(tiling, c, vector_), "the product " + by);
}

} // namespace ptsched::gemm
