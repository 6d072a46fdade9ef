/* SPDX-License-Identifier: MIT */
/* Code that does nothing but multiply and add, for the rate at which a device does that. */
#ifndef PTSCHED_DEVICE_MULTIPLY_ADD_HPP
#define PTSCHED_DEVICE_MULTIPLY_ADD_HPP

#include <ptsched/device/device.hpp>

namespace ptsched::device::multiply_add {

/* The kernel's parameters: an address that is never written, and how many rounds, of 32 bits. */
std::unique_ptr<Code> kernel(Device &gpu);
/* Of each thread in each round. */
constexpr double kernel_operations = 64;

/* On the calling thread; what comes of it does not matter, but is to be used. */
float on_host(unsigned rounds);
constexpr double host_operations = 8 * 16 * 2;

} // namespace ptsched::device::multiply_add

#endif /* PTSCHED_DEVICE_MULTIPLY_ADD_HPP */
