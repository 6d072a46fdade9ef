// SPDX-License-Identifier: MIT
#include "samples/spmd/kmeans/problem.hpp"

namespace ptsched::samples::kmeans {

namespace {

/* Whose sums are floats, before they are added to doubles. */
constexpr std::size_t block = 1024;

class ByOpenmp : public RankedWay {
public:
    explicit ByOpenmp(Problem &problem) : RankedWay(problem.ranks), problem_(problem) {}
    void check_result() override { problem_.check(centres_, "by MPI and OpenMP"); }

    void compute() override
    {
        centres_ = problem_.centres();
        for (unsigned iteration = 0; iteration < problem_.shape.iterations; iteration++) {
            double sums[sum_floats] = {};
            add_points(sums);
            ranks().add_up(std::span<double>(sums));
            move_centres(sums, centres_.data());
        }
    }

private:
    void add_points(double *all) const
    {
        const float *const points = problem_.points().data(), *const centres = centres_.data();
        const std::size_t count = problem_.share.count;
#pragma omp parallel for schedule(static) reduction(+ : all[:sum_floats])
        for (std::size_t first = 0; first < count; first += block) {
            float sums[sum_floats] = {};
            for (std::size_t i = first; i < std::min(first + block, count); i++)
                add_point(points + i * dimensions, centres, sums);
            for (unsigned i = 0; i < sum_floats; i++)
                all[i] += static_cast<double>(sums[i]);
        }
    }

    Problem &problem_;
    std::vector<float> centres_;
};

} // namespace

std::unique_ptr<Way> by_openmp(Problem &problem)
{
    return std::make_unique<ByOpenmp>(problem);
}

} // namespace ptsched::samples::kmeans
