// SPDX-License-Identifier: MIT
#include "samples/spmd/cmeans/problem.hpp"

namespace ptsched::samples::cmeans {

namespace {

/* Points lie around places of which no two are close to each other. */
float middle(std::size_t cluster, std::size_t dimension)
{
    return random_at<float>(1, cluster * dimensions + dimension);
}

} // namespace

float Method::point_at(std::size_t place)
{
    const std::size_t point = place / dimensions;
    return middle(bits_at(2, point) % clusters, place % dimensions) + 0.3F * random_at<float>(3, place);
}

std::vector<float> Method::first_model(std::size_t)
{
    std::vector<float> centres(centre_floats);
    for (std::size_t i = 0; i < centre_floats; i++)
        centres[i] = middle(i / dimensions, i % dimensions) + 0.2F * random_at<float>(4, i);
    return centres;
}

/* Moves the centres to where the sums say. */
void Method::next_model(const double *sums, std::size_t, float *centres)
{
    for (unsigned i = 0; i < centre_floats; i++) {
        const double *const own = sums + i / dimensions * group_sums;
        centres[i] = static_cast<float>(own[i % dimensions] / own[dimensions]);
    }
}

} // namespace ptsched::samples::cmeans
