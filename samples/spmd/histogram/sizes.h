/* SPDX-License-Identifier: MIT */
#ifndef SAMPLES_SPMD_HISTOGRAM_SIZES_H
#define SAMPLES_SPMD_HISTOGRAM_SIZES_H

namespace ptsched::samples::histogram {

constexpr unsigned int bins = 256, shift = 24; /* of numbers of 32 bits: by their upper ones */
constexpr unsigned int threads = 256;          /* of a thread block */

} // namespace ptsched::samples::histogram

#endif /* SAMPLES_SPMD_HISTOGRAM_SIZES_H */
