/* SPDX-License-Identifier: MIT */
/* Clusters of points by Lloyd's iteration. */
#ifndef SAMPLES_SPMD_KMEANS_PROBLEM_HPP
#define SAMPLES_SPMD_KMEANS_PROBLEM_HPP

#include "samples/spmd/common/points.hpp"
#include "samples/spmd/kmeans/sizes.h"

namespace ptsched::samples::kmeans {

inline unsigned nearest_of(const float *point, const float *centres)
{
    unsigned nearest = 0;
    float least = 3e38F;
    for (unsigned cluster = 0; cluster < clusters; cluster++) {
        float distance = 0;
#pragma omp simd reduction(+ : distance)
        for (unsigned i = 0; i < dimensions; i++) {
            const float by = point[i] - centres[cluster * dimensions + i];
            distance += by * by;
        }
        if (distance < least) {
            least = distance;
            nearest = cluster;
        }
    }
    return nearest;
}

/* What a point is added to: sums of all clusters, one behind the other. */
template <typename Sum> inline void add_point(const float *point, const float *centres, Sum *sums)
{
    Sum *const own = sums + nearest_of(point, centres) * (dimensions + 1);
    for (unsigned i = 0; i < dimensions; i++)
        own[i] += static_cast<Sum>(point[i]);
    own[dimensions] += 1;
}

/* As points.hpp has it. */
struct Method {
    static constexpr const char *name = "kmeans", *what_model_is = "centres";
    static constexpr unsigned dimensions = kmeans::dimensions, groups = clusters, group_sums = kmeans::dimensions + 1;
    static constexpr unsigned model_floats = centre_floats, threads = kmeans::threads, blocks = 8;
    static constexpr double tolerance = 1e-3;
    /* A distance has three for each cluster and number of four bytes. */
    static constexpr double flops = 3.0 * clusters / 4;

    static float point_at(std::size_t place);
    static std::vector<float> first_model(std::size_t points);
    template <typename Sum> static void add_point(const float *point, const float *model, Sum *sums)
    {
        kmeans::add_point(point, model, sums);
    }
    static void next_model(const double *sums, std::size_t points, float *model);
};

using Problem = PointsProblem<Method>;

std::unique_ptr<Way> by_openmp(Problem &problem);
std::unique_ptr<Way> by_cuda(Problem &problem, const std::string &module);
std::unique_ptr<SpmdWay> by_spmd(Problem &problem, const SpmdSettings &settings, const Mode &mode);

} // namespace ptsched::samples::kmeans

#endif /* SAMPLES_SPMD_KMEANS_PROBLEM_HPP */
