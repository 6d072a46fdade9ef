/* SPDX-License-Identifier: MIT */
/* Clusters of points by Lloyd's iteration. Each rank has some points, on which all iterations are. */
#ifndef SAMPLES_SPMD_KMEANS_PROBLEM_HPP
#define SAMPLES_SPMD_KMEANS_PROBLEM_HPP

#include "samples/spmd/common/forward.hpp"
#include "samples/spmd/common/input.hpp"
#include "samples/spmd/common/ranks.hpp"
#include "samples/spmd/kmeans/sizes.h"

namespace ptsched::samples::kmeans {

struct Shape {
    std::size_t points;
    unsigned iterations;
};

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

/* Moves the centres to the middle of what they have; those that have nothing stay. */
template <typename Sum> inline void move_centres(const Sum *sums, float *centres)
{
    for (unsigned i = 0; i < centre_floats; i++) {
        const Sum *const own = sums + i / dimensions * (dimensions + 1);
        if (own[dimensions] > 0)
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
    Expected<float> expected_{1e-3}; /* sums in another order */
};

std::unique_ptr<Way> by_openmp(Problem &problem);
std::unique_ptr<Way> by_cuda(Problem &problem, const std::string &module);
std::unique_ptr<SpmdWay> by_spmd(Problem &problem, const SpmdSettings &settings, const Mode &mode);

} // namespace ptsched::samples::kmeans

#endif /* SAMPLES_SPMD_KMEANS_PROBLEM_HPP */
