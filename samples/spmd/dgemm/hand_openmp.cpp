// SPDX-License-Identifier: MIT
#include "samples/spmd/dgemm/problem.hpp"

namespace ptsched::samples::dgemm {

namespace {

constexpr std::size_t block = 32; /* rows */

class ByOpenmp : public RankedWay {
public:
    explicit ByOpenmp(Problem &problem)
        : RankedWay(problem.ranks), problem_(problem), own_(problem.share.count * problem.shape.columns),
          c_(problem.ranks.is_first() ? problem.shape.rows * problem.shape.columns : 0)
    {
    }
    void check_result() override { problem_.check(c_, "by MPI and OpenMP"); }

    void compute() override
    {
        const Shape &shape = problem_.shape;
        const std::size_t rows = problem_.share.count;
#pragma omp parallel for schedule(dynamic)
        for (std::size_t first = 0; first < rows; first += block)
            problem_.panels().multiply(problem_.a().data() + first * shape.inner, std::min(block, rows - first),
                                       own_.data() + first * shape.columns);
        ranks().gather(std::span<const double>(own_), shape.rows, shape.columns, c_.data());
    }

private:
    Problem &problem_;
    std::vector<double> own_, c_;
};

} // namespace

std::unique_ptr<Way> by_openmp(Problem &problem)
{
    return std::make_unique<ByOpenmp>(problem);
}

} // namespace ptsched::samples::dgemm
