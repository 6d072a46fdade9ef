/* SPDX-License-Identifier: MIT */
/*
 * Fuzzy c-means (Bezdek), m = 2: a point belongs to cluster i by u_i = (1 / d_i^2) / sum_k (1 / d_k^2), and centre i
 * moves to sum u_i^2 x / sum u_i^2. Each rank has some points, on which all iterations are.
 */
#ifndef SAMPLES_SPMD_CMEANS_PROBLEM_HPP
#define SAMPLES_SPMD_CMEANS_PROBLEM_HPP

#include "samples/spmd/cmeans/sizes.h"
#include "samples/spmd/common/forward.hpp"
#include "samples/spmd/common/input.hpp"
#include "samples/spmd/common/ranks.hpp"

namespace ptsched::samples::cmeans {

struct Shape {
    std::size_t points;
    unsigned iterations;
};

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

/* Moves the centres to where the sums say. */
template <typename Sum> inline void move_centres(const Sum *sums, float *centres)
{
    for (unsigned i = 0; i < centre_floats; i++) {
        const Sum *const own = sums + i / dimensions * (dimensions + 1);
        centres[i] = static_cast<float>(own[i % dimensions] / own[dimensions]);
    }
}

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
    const std::vector<float> &centres() const { return centres_; } /* at first */
    void check(std::span<const float> centres, const std::string &by) { expected_.check(centres, "the centres " + by); }

private:
    const Elements<float> points_;
    std::vector<float> centres_;
    Expected<float> expected_{2e-3}; /* sums in another order */
};

std::unique_ptr<Way> by_openmp(Problem &problem);
std::unique_ptr<Way> by_cuda(Problem &problem, const std::string &module);
std::unique_ptr<SpmdWay> by_spmd(Problem &problem, const SpmdSettings &settings, const Mode &mode);

} // namespace ptsched::samples::cmeans

#endif /* SAMPLES_SPMD_CMEANS_PROBLEM_HPP */
