/* SPDX-License-Identifier: MIT */
/* What is done with tiles on a GPU, by cuBLAS and cuSOLVER where they are there. Thread-safe. */
#ifndef SAMPLES_TASKS_CHOLESKY_STEPS_HPP
#define SAMPLES_TASKS_CHOLESKY_STEPS_HPP

#include "samples/common/driver.hpp"
#include "samples/common/hand.hpp"
#include "samples/common/program.hpp"

#include <optional>

namespace ptsched::cholesky {

class Steps {
public:
    explicit Steps(const samples::Settings &settings);
    ~Steps();
    Steps(const Steps &) = delete;
    Steps &operator=(const Steps &) = delete;

    /* The lower triangle becomes its factor; what is above, is something. */
    void factor(CUstream stream, unsigned n, double *a) const;
    /* a becomes the x for which x l' = a. */
    void solve(CUstream stream, unsigned n, const double *l, double *a) const;
    /* c -= a b'; what is above its diagonal is something where a is b. */
    void update(CUstream stream, unsigned n, const double *a, const double *b, double *c) const;

private:
    std::optional<samples::Hand> library_;
    const samples::driver::Kernel factor_, solve_, update_;
    const char *(*blas_factor_)(CUstream, unsigned, double *) = nullptr;
    const char *(*blas_solve_)(CUstream, unsigned, const double *, double *) = nullptr;
    const char *(*blas_update_)(CUstream, unsigned, const double *, const double *, double *) = nullptr;
};

} // namespace ptsched::cholesky

#endif /* SAMPLES_TASKS_CHOLESKY_STEPS_HPP */
