/* SPDX-License-Identifier: MIT */
/* C = A B of doubles, by rows: each rank has some rows of A, and all of B. */
#ifndef SAMPLES_SPMD_DGEMM_PROBLEM_HPP
#define SAMPLES_SPMD_DGEMM_PROBLEM_HPP

#include "samples/common/driver.hpp"
#include "samples/common/hand.hpp"
#include "samples/spmd/common/forward.hpp"
#include "samples/spmd/common/input.hpp"
#include "samples/spmd/common/ranks.hpp"
#include "samples/spmd/dgemm/blas.h"

#include <optional>

namespace ptsched::samples::dgemm {

struct Shape {
    std::size_t rows, inner, columns;
};

/* Of rows on a GPU, by cuBLAS where it is there. Thread-safe. */
class OnGpu {
public:
    explicit OnGpu(const Settings &settings);
    ~OnGpu();
    OnGpu(const OnGpu &) = delete;
    OnGpu &operator=(const OnGpu &) = delete;
    void multiply(CUstream stream, const Shape &shape, const double *a, const double *b, double *c) const;

private:
    std::optional<Hand> library_;
    const driver::Kernel kernel_;
    decltype(&blas_multiply) by_blas_ = nullptr;
};

/* B in panels of so many columns, each by rows, as what multiplies on processors reads it. */
class Panels {
public:
    static constexpr std::size_t width = 16;
    Panels(std::span<const double> b, const Shape &shape);
    /* Of so many rows. */
    void multiply(const double *a, std::size_t rows, double *c) const;

private:
    template <std::size_t Rows> void multiply_some(const double *a, std::size_t panel, double *c) const;

    const Shape shape_;
    std::vector<double> panels_;
};

class Problem {
public:
    Problem(const Ranks &ranks, Shape shape);
    const Ranks &ranks;
    const Shape shape;
    const Share share; /* rows of this rank */
    std::span<const double> a() const { return all_a().subspan(share.first * shape.inner, share.count * shape.inner); }
    std::span<const double> all_a() const { return a_.all(); } /* of all ranks */
    std::span<const double> b() const { return b_.all(); }
    const Panels &panels() const { return panels_; }
    void check(std::span<const double> c, const std::string &by) { expected_.check(c, "the product " + by); }

private:
    const Elements<double> a_, b_;
    const Panels panels_;
    Expected<double> expected_{1e-12};
};

std::unique_ptr<Way> by_openmp(Problem &problem);
std::unique_ptr<Way> by_cuda(Problem &problem, const Settings &settings, const OnGpu &on_gpu);
std::unique_ptr<SpmdWay> by_spmd(Problem &problem, const SpmdSettings &settings, const OnGpu &on_gpu, const Mode &mode);

} // namespace ptsched::samples::dgemm

#endif /* SAMPLES_SPMD_DGEMM_PROBLEM_HPP */
