// SPDX-License-Identifier: MIT
#include "samples/tasks/cholesky/steps.hpp"

#include "samples/tasks/common/blas.h"

namespace ptsched::cholesky {

using samples::driver::launch;

Steps::Steps(const samples::Settings &settings)
    : factor_(settings.module, "factor"), solve_(settings.module, "solve"), update_(settings.module, "update")
{
    if (settings.hand.empty())
        return;
    library_.emplace(settings.hand);
    blas_factor_ = library_->find<decltype(blas_factor)>("blas_factor");
    blas_solve_ = library_->find<decltype(blas_solve)>("blas_solve");
    blas_update_ = library_->find<decltype(blas_update)>("blas_update");
}

Steps::~Steps()
{
    if (library_)
        library_->find<decltype(blas_forget)>("blas_forget")();
}

void Steps::factor(CUstream stream, unsigned n, double *a) const
{
    if (blas_factor_)
        samples::check_hand(blas_factor_(stream, n, a));
    else
        launch(factor_.here(), stream, {}, {n}, a, n);
}

void Steps::solve(CUstream stream, unsigned n, const double *l, double *a) const
{
    if (blas_solve_)
        samples::check_hand(blas_solve_(stream, n, l, a));
    else
        launch(solve_.here(), stream, {}, {n}, l, a, n);
}

void Steps::update(CUstream stream, unsigned n, const double *a, const double *b, double *c) const
{
    constexpr unsigned threads = 8;
    const unsigned blocks = (n + threads - 1) / threads;
    if (blas_update_)
        samples::check_hand(blas_update_(stream, n, a, b, c));
    else
        launch(update_.here(), stream, {blocks, blocks}, {threads, threads}, a, b, c, n);
}

} // namespace ptsched::cholesky
