/* SPDX-License-Identifier: MIT */
/* What the system says of this machine. */
#ifndef PTSCHED_SPMD_ROOFLINE_HOST_HPP
#define PTSCHED_SPMD_ROOFLINE_HOST_HPP

#include <cstddef>
#include <string>

namespace ptsched::spmd::model {

std::string cpu_model();
std::string host_name();
/* Of NVIDIA's kernel module; empty if there is none. */
std::string gpu_driver();
/* So many that caches do not matter, but no more than a quarter of what is free. */
std::size_t buffer_bytes();

} // namespace ptsched::spmd::model

#endif /* PTSCHED_SPMD_ROOFLINE_HOST_HPP */
