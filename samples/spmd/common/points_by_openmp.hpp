/* SPDX-License-Identifier: MIT */
#ifndef SAMPLES_SPMD_COMMON_POINTS_BY_OPENMP_HPP
#define SAMPLES_SPMD_COMMON_POINTS_BY_OPENMP_HPP

#include "samples/spmd/common/points.hpp"

namespace ptsched::samples {

template <typename Method> class PointsByOpenmp : public RankedWay {
public:
    explicit PointsByOpenmp(PointsProblem<Method> &problem) : RankedWay(problem.ranks), problem_(problem) {}
    void check_result() override { problem_.check(model_, "by MPI and OpenMP"); }

    void compute() override
    {
        model_ = problem_.model();
        for (unsigned iteration = 0; iteration < problem_.shape.iterations; iteration++) {
            double sums[sum_floats] = {};
            add_points(sums);
            ranks().add_up(std::span<double>(sums));
            Method::next_model(sums, problem_.shape.points, model_.data());
        }
    }

private:
    static constexpr unsigned sum_floats = sum_floats_of<Method>;
    /* Whose sums are floats, before they are added to doubles. */
    static constexpr std::size_t block = 1024;

    void add_points(double *all) const
    {
        const float *const points = problem_.points().data(), *const model = model_.data();
        const std::size_t count = problem_.share.count;
#pragma omp parallel for schedule(static) reduction(+ : all[:sum_floats])
        for (std::size_t first = 0; first < count; first += block) {
            float sums[sum_floats] = {};
            for (std::size_t i = first; i < std::min(first + block, count); i++)
                Method::add_point(points + i * Method::dimensions, model, sums);
            for (unsigned i = 0; i < sum_floats; i++)
                all[i] += static_cast<double>(sums[i]);
        }
    }

    PointsProblem<Method> &problem_;
    std::vector<float> model_;
};

} // namespace ptsched::samples

#endif /* SAMPLES_SPMD_COMMON_POINTS_BY_OPENMP_HPP */
