/* SPDX-License-Identifier: MIT */
/* y = A x: each rank has some rows of A, which come over the bus once. */
#ifndef SAMPLES_SPMD_GEMV_PROBLEM_HPP
#define SAMPLES_SPMD_GEMV_PROBLEM_HPP

#include "samples/spmd/common/forward.hpp"
#include "samples/spmd/common/input.hpp"
#include "samples/spmd/common/ranks.hpp"

namespace ptsched::samples::gemv {

struct Shape {
    std::size_t rows, columns;
};

class Problem {
public:
    Problem(const Ranks &ranks, Shape shape);
    const Ranks &ranks;
    const Shape shape;
    const Share share; /* rows of this rank */
    std::span<const float> a() const
    {
        return all_a().subspan(share.first * shape.columns, share.count * shape.columns);
    }
    std::span<const float> all_a() const { return a_.all(); } /* of all ranks */
    std::span<const float> x() const { return x_.all(); }
    void check(std::span<const float> y, const std::string &by) { expected_.check(y, "the product " + by); }

private:
    const Elements<float> a_, x_;
    Expected<float> expected_{1e-4};
};

std::unique_ptr<Way> by_openmp(Problem &problem);
std::unique_ptr<Way> by_cuda(Problem &problem, const std::string &module);
std::unique_ptr<SpmdWay> by_spmd(Problem &problem, const SpmdSettings &settings, const Mode &mode);

} // namespace ptsched::samples::gemv

#endif /* SAMPLES_SPMD_GEMV_PROBLEM_HPP */
