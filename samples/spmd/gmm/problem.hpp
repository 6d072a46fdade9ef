/* SPDX-License-Identifier: MIT */
/*
 * A mixture of Gaussians by expectation maximization, with full covariances: a point's responsibilities are the
 * components' densities there over their sum; weights, middles and covariances follow from sums over the points.
 */
#ifndef SAMPLES_SPMD_GMM_PROBLEM_HPP
#define SAMPLES_SPMD_GMM_PROBLEM_HPP

#include "samples/spmd/common/points.hpp"
#include "samples/spmd/gmm/sizes.h"

#include <cmath>

namespace ptsched::samples::gmm {

/* The logarithm of a component's density at a point, and of its weight. */
inline float log_density(const float *point, const float *component)
{
    float by[dimensions], sum = 0;
    for (unsigned i = 0; i < dimensions; i++)
        by[i] = point[i] - component[middle_at + i];
    const float *factor = component + factor_at;
    for (unsigned i = 0; i < dimensions; factor += ++i) {
        float along = 0;
        for (unsigned k = 0; k <= i; k++)
            along += factor[k] * by[k];
        sum += along * along;
    }
    return component[scale_at] - 0.5F * sum;
}

/* What a point is added to: sums of all components, one behind the other. */
template <typename Sum> inline void add_point(const float *point, const float *model, Sum *sums)
{
    float parts[components], most = -3e38F, all = 0;
    for (unsigned i = 0; i < components; i++) {
        parts[i] = log_density(point, model + i * component_floats);
        most = std::max(most, parts[i]);
    }
    for (float &part : parts)
        all += part = std::exp(part - most);
    for (unsigned i = 0; i < components; i++) {
        const float part = parts[i] / all;
        Sum *const own = sums + i * component_sums;
        own[weight_at] += static_cast<Sum>(part);
        Sum *second = own + second_at;
        for (unsigned k = 0; k < dimensions; second += ++k) {
            const float value = part * point[k];
            own[first_at + k] += static_cast<Sum>(value);
#pragma omp simd
            for (unsigned j = 0; j <= k; j++)
                second[j] += static_cast<Sum>(value * point[j]);
        }
    }
}

/* As points.hpp has it. */
struct Method {
    static constexpr const char *name = "gmm", *what_model_is = "model";
    static constexpr unsigned dimensions = gmm::dimensions, groups = components, group_sums = component_sums;
    static constexpr unsigned model_floats = gmm::model_floats, threads = gmm::threads, blocks = 4;
    static constexpr double tolerance = 5e-3;
    /* Densities go through the triangle with two, and sums with three, for each element. */
    static constexpr double flops = 5.0 * components * triangle / (4 * gmm::dimensions);

    static float point_at(std::size_t place);
    static std::vector<float> first_model(std::size_t points);
    template <typename Sum> static void add_point(const float *point, const float *model, Sum *sums)
    {
        gmm::add_point(point, model, sums);
    }
    static void next_model(const double *sums, std::size_t points, float *model);
};

using Problem = PointsProblem<Method>;

std::unique_ptr<Way> by_openmp(Problem &problem);
std::unique_ptr<Way> by_cuda(Problem &problem, const std::string &module);
std::unique_ptr<SpmdWay> by_spmd(Problem &problem, const SpmdSettings &settings, const Mode &mode);

} // namespace ptsched::samples::gmm

#endif /* SAMPLES_SPMD_GMM_PROBLEM_HPP */
