/* SPDX-License-Identifier: MIT */
#ifndef SAMPLES_SPMD_GMM_SIZES_H
#define SAMPLES_SPMD_GMM_SIZES_H

namespace ptsched::samples::gmm {

constexpr unsigned int dimensions = 16, components = 16;
constexpr unsigned int triangle = dimensions * (dimensions + 1) / 2;
/*
 * Of each component: its middle, the inverse of its covariance's Cholesky factor by rows of the lower triangle, and the
 * logarithm of what the exponential is multiplied by.
 */
constexpr unsigned int middle_at = 0, factor_at = dimensions, scale_at = dimensions + triangle;
constexpr unsigned int component_floats = dimensions + triangle + 1;
constexpr unsigned int model_floats = components * component_floats;
/* And what points bring: the sums of weights, of the points, and of their products in pairs. */
constexpr unsigned int weight_at = 0, first_at = 1, second_at = 1 + dimensions;
constexpr unsigned int component_sums = 1 + dimensions + triangle;
constexpr unsigned int sum_floats = components * component_sums;
constexpr unsigned int threads = 256, tile = 64; /* of a thread block; points that it has at once */

} // namespace ptsched::samples::gmm

#endif /* SAMPLES_SPMD_GMM_SIZES_H */
