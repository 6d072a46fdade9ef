// SPDX-License-Identifier: MIT
#include "samples/spmd/kmeans/problem.hpp"

namespace ptsched::samples::kmeans {

namespace {

constexpr std::size_t most_in_sequence = std::size_t{1} << 14; /* points */

/* Points lie around places of which no two are close to each other. */
float middle(std::size_t cluster, std::size_t dimension)
{
    return random_at<float>(1, cluster * dimensions + dimension);
}

float point_at(std::size_t place)
{
    const std::size_t point = place / dimensions;
    return middle(bits_at(2, point) % clusters, place % dimensions) + 0.2F * random_at<float>(3, place);
}

} // namespace

Problem::Problem(const Ranks &of, Shape with)
    : ranks(of), shape(with), share(of.share(with.points)), points_(0, with.points * dimensions, point_at)
{
    for (std::size_t i = 0; i < centre_floats; i++)
        centres_.push_back(middle(i / dimensions, i % dimensions) + 0.2F * random_at<float>(4, i));
    if (!of.is_first() || with.points > most_in_sequence)
        return;
    std::vector<float> centres(centres_), point(dimensions);
    for (unsigned iteration = 0; iteration < with.iterations; iteration++) {
        std::vector<double> sums(sum_floats);
        for (std::size_t i = 0; i < with.points; i++) {
            for (std::size_t dimension = 0; dimension < dimensions; dimension++)
                point[dimension] = point_at(i * dimensions + dimension);
            add_point(point.data(), centres.data(), sums.data());
        }
        move_centres(sums.data(), centres.data());
    }
    expected_.set(std::move(centres));
}

} // namespace ptsched::samples::kmeans
