/* SPDX-License-Identifier: MIT */
/*
 * Fuzzy c-means (Bezdek), m = 2: a point belongs to cluster i by u_i = (1 / d_i^2) / sum_k (1 / d_k^2), and centre i
 * moves to sum u_i^2 x / sum u_i^2.
 */
#ifndef SAMPLES_SPMD_CMEANS_PROBLEM_HPP
#define SAMPLES_SPMD_CMEANS_PROBLEM_HPP

#include "samples/spmd/cmeans/sizes.h"
#include "samples/spmd/common/points.hpp"

namespace ptsched::samples::cmeans {

/* What a point is added to: sums of all clusters, one behind the other. */
template <typename Sum> inline void add_point(const float *point, const float *centres, Sum *sums)
{
    float near[clusters], all = 0;
    for (unsigned cluster = 0; cluster < clusters; cluster++) {
        float distance = 0;
#pragma omp simd reduction(+ : distance)
        for (unsigned i = 0; i < dimensions; i++) {
            const float by = point[i] - centres[cluster * dimensions + i];
            distance += by * by;
        }
        near[cluster] = 1 / (distance + 1e-12F);
        all += near[cluster];
    }
    for (unsigned cluster = 0; cluster < clusters; cluster++) {
        const float part = near[cluster] / all, weight = part * part;
        Sum *const own = sums + cluster * (dimensions + 1);
#pragma omp simd
        for (unsigned i = 0; i < dimensions; i++)
            own[i] += static_cast<Sum>(weight * point[i]);
        own[dimensions] += static_cast<Sum>(weight);
    }
}

/* As points.hpp has it. */
struct Method {
    static constexpr const char *name = "cmeans", *what_model_is = "centres";
    static constexpr unsigned dimensions = cmeans::dimensions, groups = clusters, group_sums = cmeans::dimensions + 1;
    static constexpr unsigned model_floats = centre_floats, threads = cmeans::threads, blocks = 4;
    static constexpr double tolerance = 2e-3;
    /* A distance has three, and a sum two, for each cluster and number of four bytes. */
    static constexpr double flops = 5.0 * clusters / 4;

    static float point_at(std::size_t place);
    static std::vector<float> first_model(std::size_t points);
    template <typename Sum> static void add_point(const float *point, const float *model, Sum *sums)
    {
        cmeans::add_point(point, model, sums);
    }
    static void next_model(const double *sums, std::size_t points, float *model);
};

using Problem = PointsProblem<Method>;

std::unique_ptr<Way> by_openmp(Problem &problem);
std::unique_ptr<Way> by_cuda(Problem &problem, const std::string &module);
std::unique_ptr<SpmdWay> by_spmd(Problem &problem, const SpmdSettings &settings, const Mode &mode);

} // namespace ptsched::samples::cmeans

#endif /* SAMPLES_SPMD_CMEANS_PROBLEM_HPP */
