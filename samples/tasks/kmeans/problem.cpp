// SPDX-License-Identifier: MIT
#include "samples/tasks/kmeans/problem.hpp"

#include <algorithm>
#include <array>
#include <random>

namespace ptsched::kmeans {

namespace {

constexpr std::size_t most_on_host = std::size_t{1} << 16; /* samples */

using Place = std::array<float, dimensions>;

std::size_t nearest_of(const Place &place, const std::vector<float> &centres)
{
    std::size_t nearest = 0;
    float least = std::numeric_limits<float>::max();
    for (std::size_t cluster = 0; cluster < clusters; cluster++) {
        float distance = 0;
        for (std::size_t i = 0; i < dimensions; i++) {
            const float by = place[i] - centres[cluster * dimensions + i];
            distance += by * by;
        }
        if (distance < least) {
            least = distance;
            nearest = cluster;
        }
    }
    return nearest;
}

} // namespace

/* Around places of which no two are close to each other. */
Problem::Problem(Shape of) : shape(of), samples_(of.floats()), centres_(centre_floats)
{
    std::minstd_rand source(1);
    std::uniform_real_distribution<float> places(-1, 1), around(-0.2F, 0.2F);
    std::vector<float> middles(centre_floats);
    std::generate(middles.begin(), middles.end(), [&] { return places(source); });
    for (std::size_t sample = 0; sample < std::size_t{of.block} * of.blocks; sample++) {
        float *const first = &samples_[sample / of.block * of.block_floats() + sample % of.block];
        for (std::size_t i = 0; i < dimensions; i++)
            first[i * of.block] = middles[sample % clusters * dimensions + i] + around(source);
    }
    for (std::size_t i = 0; i < centre_floats; i++)
        centres_[i] = middles[i] + around(source);
    if (samples_.size() / dimensions <= most_on_host)
        compute();
}

void Problem::compute()
{
    std::vector<float> centres(centres_);
    for (unsigned iteration = 0; iteration < shape.iterations; iteration++) {
        std::vector<double> sums(centre_floats), counts(clusters);
        for (std::size_t sample = 0; sample < std::size_t{shape.block} * shape.blocks; sample++) {
            const float *const first = &samples_[sample / shape.block * shape.block_floats() + sample % shape.block];
            Place place;
            for (std::size_t i = 0; i < dimensions; i++)
                place[i] = first[i * shape.block];
            const std::size_t cluster = nearest_of(place, centres);
            for (std::size_t i = 0; i < dimensions; i++)
                sums[cluster * dimensions + i] += place[i];
            counts[cluster]++;
        }
        for (std::size_t i = 0; i < centre_floats; i++)
            if (counts[i / dimensions] > 0)
                centres[i] = static_cast<float>(sums[i] / counts[i / dimensions]);
    }
    expected_.set(std::move(centres));
}

void Problem::restore(float *samples, float *centres) const
{
    samples::copy_all(samples_, samples);
    samples::copy_all(centres_, centres);
}

} // namespace ptsched::kmeans
