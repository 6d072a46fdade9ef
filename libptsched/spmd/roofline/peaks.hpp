/* SPDX-License-Identifier: MIT */
/* Code that does nothing but multiply and add, or read. */
#ifndef PTSCHED_SPMD_ROOFLINE_PEAKS_HPP
#define PTSCHED_SPMD_ROOFLINE_PEAKS_HPP

#include <ptsched/device/device.hpp>

namespace ptsched::spmd::model {

/* On the calling thread, so many rounds; what comes of it does not matter, but is to be used. */
template <typename Number> Number multiply_add(unsigned rounds);
/* Operations of a round. */
template <typename Number> double operations_of_round();
/* The sum of that many numbers, as fast as they can be read. */
std::uint64_t read(const std::uint64_t *numbers, std::size_t count);

/* Its parameters: an address that is never written, and how many rounds, of 32 bits. Throws Error. */
std::unique_ptr<device::Code> multiply_add_kernel(device::Device &gpu, bool twice);
constexpr double kernel_operations = 64; /* of each thread in each round */

} // namespace ptsched::spmd::model

#endif /* PTSCHED_SPMD_ROOFLINE_PEAKS_HPP */
