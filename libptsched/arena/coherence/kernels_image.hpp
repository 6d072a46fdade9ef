/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_ARENA_COHERENCE_KERNELS_IMAGE_HPP
#define PTSCHED_ARENA_COHERENCE_KERNELS_IMAGE_HPP

#include <cstddef>
#include <span>

namespace ptsched::arena {

/* kernels.cu in PTX, so that neither a compiler nor one image for each kind of GPU is needed. */
std::span<const std::byte> kernels_image();

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_COHERENCE_KERNELS_IMAGE_HPP */
