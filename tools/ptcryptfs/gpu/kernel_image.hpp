/* SPDX-License-Identifier: MIT */
#ifndef PTCRYPTFS_GPU_KERNEL_IMAGE_HPP
#define PTCRYPTFS_GPU_KERNEL_IMAGE_HPP

#include <cstddef>
#include <span>

namespace ptcryptfs {

/* The kernel of kernels.cu as PTX. */
std::span<const std::byte> kernel_image();

} // namespace ptcryptfs

#endif /* PTCRYPTFS_GPU_KERNEL_IMAGE_HPP */
