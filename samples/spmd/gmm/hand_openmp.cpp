// SPDX-License-Identifier: MIT
#include "samples/spmd/gmm/problem.hpp"

namespace ptsched::samples::gmm {

namespace {

/* Whose sums are floats, before they are added to doubles. */
constexpr std::size_t block = 1024;

class ByOpenmp : public RankedWay {
public:
    explicit ByOpenmp(Problem &problem) : RankedWay(problem.ranks), problem_(problem) {}
    void check_result() override { problem_.check(model_, "by MPI and OpenMP"); }

    void compute() override
    {
        model_ = problem_.model();
        for (unsigned iteration = 0; iteration < problem_.shape.iterations; iteration++) {
            double sums[sum_floats] = {};
            add_points(sums);
            ranks().add_up(std::span<double>(sums));
            maximize(sums, problem_.shape.points, model_.data());
        }
    }

private:
    void add_points(double *all) const
    {
        const float *const points = problem_.points().data(), *const model = model_.data();
        const std::size_t count = problem_.share.count;
#pragma omp parallel for schedule(static) reduction(+ : all[:sum_floats])
        for (std::size_t first = 0; first < count; first += block) {
            float sums[sum_floats] = {};
            for (std::size_t i = first; i < std::min(first + block, count); i++)
                add_point(points + i * dimensions, model, sums);
            for (unsigned i = 0; i < sum_floats; i++)
                all[i] += static_cast<double>(sums[i]);
        }
    }

    Problem &problem_;
    std::vector<float> model_;
};

} // namespace

std::unique_ptr<Way> by_openmp(Problem &problem)
{
    return std::make_unique<ByOpenmp>(problem);
}

} // namespace ptsched::samples::gmm
