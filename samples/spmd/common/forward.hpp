/* SPDX-License-Identifier: MIT */
/* Of by_spmd.hpp, for those who only name it. */
#ifndef SAMPLES_SPMD_COMMON_FORWARD_HPP
#define SAMPLES_SPMD_COMMON_FORWARD_HPP

namespace ptsched::samples {

struct Mode;
class SpmdSettings;
class SpmdWay;

} // namespace ptsched::samples

#endif /* SAMPLES_SPMD_COMMON_FORWARD_HPP */
