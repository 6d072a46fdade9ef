// SPDX-License-Identifier: MIT
#include "samples/spmd/gemv/problem.hpp"

namespace ptsched::samples::gemv {

namespace {

class ByOpenmp : public RankedWay {
public:
    explicit ByOpenmp(Problem &problem)
        : RankedWay(problem.ranks), problem_(problem), own_(problem.share.count), y_(problem.shape.rows)
    {
    }
    void check_result() override { problem_.check(y_, "by MPI and OpenMP"); }

    void compute() override
    {
        const std::size_t columns = problem_.shape.columns;
        const float *const a = problem_.a().data(), *const x = problem_.x().data();
        float *const y = own_.data();
#pragma omp parallel for schedule(static)
        for (std::size_t row = 0; row < own_.size(); row++) {
            float sum = 0;
#pragma omp simd reduction(+ : sum)
            for (std::size_t column = 0; column < columns; column++)
                sum += a[row * columns + column] * x[column];
            y[row] = sum;
        }
        ranks().gather(std::span<const float>(own_), problem_.shape.rows, 1, y_.data());
    }

private:
    Problem &problem_;
    std::vector<float> own_, y_;
};

} // namespace

std::unique_ptr<Way> by_openmp(Problem &problem)
{
    return std::make_unique<ByOpenmp>(problem);
}

} // namespace ptsched::samples::gemv
