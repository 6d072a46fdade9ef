/* SPDX-License-Identifier: MIT */
/* The factor of a positive definite matrix of doubles, by tiles; those on the diagonal and below. */
#ifndef SAMPLES_TASKS_CHOLESKY_PROBLEM_HPP
#define SAMPLES_TASKS_CHOLESKY_PROBLEM_HPP

#include "samples/tasks/cholesky/steps.hpp"
#include "samples/tasks/common/modes.hpp"
#include "samples/tasks/common/tiles.hpp"

namespace ptsched::cholesky {

using samples::Tiling;

class Problem {
public:
    explicit Problem(Tiling tiling);
    const Tiling tiling;
    void restore(double *matrix) const;
    /* By its product with its transposed and a vector. */
    void check(std::span<const double> factor, const std::string &by);

private:
    void factor_on_host();

    std::vector<double> matrix_, vector_, lower_; /* of small ones: the factor, as it is on the host */
    samples::Expected<double> expected_{1e-12}, expected_lower_{1e-12};
};

std::unique_ptr<samples::Way> by_hand(Problem &problem, const Steps &steps);
std::unique_ptr<samples::Way> by_tasks(Problem &problem, const Steps &steps, tasks::Memory memory, unsigned gpus);

} // namespace ptsched::cholesky

#endif /* SAMPLES_TASKS_CHOLESKY_PROBLEM_HPP */
