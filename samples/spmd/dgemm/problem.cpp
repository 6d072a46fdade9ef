// SPDX-License-Identifier: MIT
#include "samples/spmd/dgemm/problem.hpp"

namespace ptsched::samples::dgemm {

namespace {

constexpr std::size_t most_in_sequence = std::size_t{1} << 24; /* products of two elements */

double a_at(std::size_t place)
{
    return random_at<double>(1, place);
}

double b_at(std::size_t place)
{
    return random_at<double>(2, place);
}

} // namespace

OnGpu::OnGpu(const Settings &settings) : kernel_(settings.module, "multiply")
{
    if (settings.hand.empty() || settings.cpu)
        return;
    library_.emplace(settings.hand);
    by_blas_ = library_->find<std::remove_pointer_t<decltype(by_blas_)>>("blas_multiply");
}

OnGpu::~OnGpu()
{
    if (library_)
        library_->find<decltype(blas_forget)>("blas_forget")();
}

void OnGpu::multiply(CUstream stream, const Shape &shape, const double *a, const double *b, double *c) const
{
    const auto rows = static_cast<unsigned>(shape.rows), inner = static_cast<unsigned>(shape.inner),
               columns = static_cast<unsigned>(shape.columns);
    if (by_blas_) {
        check_hand(by_blas_(stream, rows, inner, columns, a, b, c));
        return;
    }
    constexpr unsigned threads = 8;
    driver::launch(kernel_.here(), stream, {(columns + threads - 1) / threads, (rows + threads - 1) / threads},
                   {threads, threads}, a, b, c, rows, inner, columns);
}

Panels::Panels(std::span<const double> b, const Shape &shape)
    : shape_(shape), panels_((shape.columns + width - 1) / width * width * shape.inner)
{
    in_parts((shape.columns + width - 1) / width, 1, [&](std::size_t panel, std::size_t) {
        for (std::size_t row = 0; row < shape.inner; row++)
            for (std::size_t i = 0; i < std::min(width, shape.columns - panel * width); i++)
                panels_[(panel * shape.inner + row) * width + i] = b[row * shape.columns + panel * width + i];
    });
}

/* Sums stay in registers, which their number is for. */
template <std::size_t Rows> void Panels::multiply_some(const double *a, std::size_t panel, double *c) const
{
    double sums[Rows][width] = {};
    const double *const b = &panels_[panel * shape_.inner * width];
    for (std::size_t k = 0; k < shape_.inner; k++)
        for (std::size_t row = 0; row < Rows; row++)
#pragma omp simd
            for (std::size_t i = 0; i < width; i++)
                sums[row][i] += a[row * shape_.inner + k] * b[k * width + i];
    for (std::size_t row = 0; row < Rows; row++)
        std::copy_n(sums[row], std::min(width, shape_.columns - panel * width),
                    c + row * shape_.columns + panel * width);
}

void Panels::multiply(const double *a, std::size_t rows, double *c) const
{
    constexpr std::size_t some = 4;
    for (std::size_t panel = 0; panel * width < shape_.columns; panel++) {
        std::size_t row = 0;
        for (; row + some <= rows; row += some)
            multiply_some<some>(a + row * shape_.inner, panel, c + row * shape_.columns);
        for (; row < rows; row++)
            multiply_some<1>(a + row * shape_.inner, panel, c + row * shape_.columns);
    }
}

Problem::Problem(const Ranks &of, Shape with)
    : ranks(of), shape(with), share(of.share(with.rows)), a_(0, with.rows * with.inner, a_at),
      b_(0, with.inner * with.columns, b_at), panels_(b_.all(), with)
{
    if (!of.is_first() || with.rows * with.inner * with.columns > most_in_sequence)
        return;
    std::vector<double> c(with.rows * with.columns);
    for (std::size_t row = 0; row < with.rows; row++)
        for (std::size_t k = 0; k < with.inner; k++)
            for (std::size_t column = 0; column < with.columns; column++)
                c[row * with.columns + column] += a_at(row * with.inner + k) * b_at(k * with.columns + column);
    expected_.set(std::move(c));
}

} // namespace ptsched::samples::dgemm
