/* SPDX-License-Identifier: MIT */
/*
 * A mixture of Gaussians by expectation maximization, with full covariances: a point's responsibilities are the
 * components' densities there over their sum; weights, middles and covariances follow from sums over the points.
 */
#ifndef SAMPLES_SPMD_GMM_PROBLEM_HPP
#define SAMPLES_SPMD_GMM_PROBLEM_HPP

#include "samples/spmd/common/forward.hpp"
#include "samples/spmd/common/input.hpp"
#include "samples/spmd/common/ranks.hpp"
#include "samples/spmd/gmm/sizes.h"

#include <cmath>

namespace ptsched::samples::gmm {

struct Shape {
    std::size_t points;
    unsigned iterations;
};

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

/* The model that sums over so many points say. */
void maximize(const double *sums, std::size_t points, float *model);

class Problem {
public:
    Problem(const Ranks &ranks, Shape shape);
    const Ranks &ranks;
    const Shape shape;
    const Share share; /* points of this rank */
    std::span<const float> points() const
    {
        return all_points().subspan(share.first * dimensions, share.count * dimensions);
    }
    /* Of all ranks. */
    std::span<const float> all_points() const { return points_.all(); }
    const std::vector<float> &model() const { return model_; } /* at first */
    void check(std::span<const float> model, const std::string &by) { expected_.check(model, "the model " + by); }

private:
    const Elements<float> points_;
    std::vector<float> model_;
    Expected<float> expected_{5e-3}; /* sums in another order */
};

std::unique_ptr<Way> by_openmp(Problem &problem);
std::unique_ptr<Way> by_cuda(Problem &problem, const std::string &module);
std::unique_ptr<SpmdWay> by_spmd(Problem &problem, const SpmdSettings &settings, const Mode &mode);

} // namespace ptsched::samples::gmm

#endif /* SAMPLES_SPMD_GMM_PROBLEM_HPP */
