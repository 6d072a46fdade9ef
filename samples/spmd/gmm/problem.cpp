// SPDX-License-Identifier: MIT
#include "samples/spmd/gmm/problem.hpp"

namespace ptsched::samples::gmm {

namespace {

constexpr double least_variance = 1e-3; /* is added, so that no component gets too thin */

float middle(std::size_t component, std::size_t dimension)
{
    return random_at<float>(1, component * dimensions + dimension);
}

std::size_t below(std::size_t row, std::size_t column)
{
    return row * (row + 1) / 2 + column;
}

/* The inverse of the lower factor of a covariance; returns the logarithm of the factor's determinant. */
double factor(std::vector<double> l, float *inverse)
{
    double log_determinant = 0;
    for (std::size_t i = 0; i < dimensions; i++)
        for (std::size_t j = 0; j <= i; j++) {
            double sum = l[below(i, j)];
            for (std::size_t k = 0; k < j; k++)
                sum -= l[below(i, k)] * l[below(j, k)];
            l[below(i, j)] = i == j ? std::sqrt(sum) : sum / l[below(j, j)];
        }
    std::vector<double> made(triangle);
    for (std::size_t i = 0; i < dimensions; i++) {
        log_determinant += std::log(l[below(i, i)]);
        made[below(i, i)] = 1 / l[below(i, i)];
        for (std::size_t j = 0; j < i; j++) {
            double sum = 0;
            for (std::size_t k = j; k < i; k++)
                sum -= l[below(i, k)] * made[below(k, j)];
            made[below(i, j)] = sum / l[below(i, i)];
        }
    }
    std::copy(made.begin(), made.end(), inverse);
    return log_determinant;
}

} // namespace

void Method::next_model(const double *sums, std::size_t points, float *model)
{
    for (std::size_t component = 0; component < components; component++) {
        const double *const own = sums + component * component_sums;
        float *const made = model + component * component_floats;
        const double weight = own[weight_at];
        std::vector<double> covariance(triangle);
        for (std::size_t i = 0; i < dimensions; i++) {
            const double at = own[first_at + i] / weight;
            made[middle_at + i] = static_cast<float>(at);
            for (std::size_t j = 0; j <= i; j++)
                covariance[below(i, j)] = own[second_at + below(i, j)] / weight - at * own[first_at + j] / weight;
            covariance[below(i, i)] += least_variance;
        }
        const double log_determinant = factor(std::move(covariance), made + factor_at);
        made[scale_at] = static_cast<float>(std::log(weight / static_cast<double>(points)) - log_determinant);
    }
}

float Method::point_at(std::size_t place)
{
    const std::size_t point = place / dimensions;
    return middle(bits_at(2, point) % components, place % dimensions) + 0.4F * random_at<float>(3, place);
}

std::vector<float> Method::first_model(std::size_t points)
{
    std::vector<double> sums(sum_floats);
    for (std::size_t i = 0; i < components; i++) { /* of spheres around places near the middles */
        double *const own = &sums[i * component_sums];
        own[weight_at] = static_cast<double>(points) / components;
        for (std::size_t k = 0; k < dimensions; k++)
            own[first_at + k] = own[weight_at] * (middle(i, k) + 0.2 * random_at<double>(4, i * dimensions + k));
        for (std::size_t k = 0; k < dimensions; k++)
            for (std::size_t j = 0; j <= k; j++)
                own[second_at + below(k, j)] =
                    own[first_at + k] * own[first_at + j] / own[weight_at] + (j == k ? 0.1 * own[weight_at] : 0);
    }
    std::vector<float> model(model_floats);
    next_model(sums.data(), points, model.data());
    return model;
}

} // namespace ptsched::samples::gmm
