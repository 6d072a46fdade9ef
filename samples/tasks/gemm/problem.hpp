/* SPDX-License-Identifier: MIT */
/* c += a b, of square matrices by tiles. */
#ifndef SAMPLES_TASKS_GEMM_PROBLEM_HPP
#define SAMPLES_TASKS_GEMM_PROBLEM_HPP

#include "samples/common/driver.hpp"
#include "samples/common/hand.hpp"
#include "samples/tasks/common/modes.hpp"
#include "samples/tasks/common/tiles.hpp"

#include <optional>

namespace ptsched::gemm {

using samples::Tiling;

/* Of tiles of a GPU, by cuBLAS where it is there. Thread-safe. */
class Multiply {
public:
    explicit Multiply(const samples::Settings &settings);
    ~Multiply();
    Multiply(const Multiply &) = delete;
    Multiply &operator=(const Multiply &) = delete;
    void operator()(CUstream stream, unsigned n, const double *a, const double *b, double *c) const;

private:
    std::optional<samples::Hand> library_;
    const samples::driver::Kernel kernel_;
    const char *(*by_blas_)(CUstream, unsigned, const double *, const double *, double *) = nullptr;
};

class Problem {
public:
    explicit Problem(Tiling tiling);
    const Tiling tiling;
    void restore(double *a, double *b, double *c) const;
    /* By what it does to a vector. */
    void check(std::span<const double> c, const std::string &by);

private:
    std::vector<double> a_, b_, c_, vector_;
    samples::Expected<double> expected_{1e-12};
};

std::unique_ptr<samples::Way> by_hand(Problem &problem, const Multiply &multiply);
std::unique_ptr<samples::Way> by_tasks(Problem &problem, const Multiply &multiply, tasks::Memory memory, unsigned gpus);

} // namespace ptsched::gemm

#endif /* SAMPLES_TASKS_GEMM_PROBLEM_HPP */
