/* SPDX-License-Identifier: MIT */
/* What CUDA's driver loads, wherever it is: PTX, SASS, fat binaries, and programs that have such. */
#ifndef PTSCHED_DEVICE_IMAGE_HPP
#define PTSCHED_DEVICE_IMAGE_HPP

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace ptsched::device {

using Bytes = std::span<const std::byte>;

/*
 * The images in what somebody has in memory: that itself, or what nvcc has put into a program, whether @content is all
 * of its file or the structure by which the program finds a fat binary of its own. Throws Error for what is cut short,
 * since the driver does not know where it ends.
 */
std::vector<Bytes> images_in(Bytes content);
/* Those in a program's file; none if it is no program with kernels, and for the driver to load. */
std::vector<std::string> images_in_program(const std::string &path);
/* The functions in what a compiler made: the names there of those that programs call @function, without templates. */
std::vector<std::string> functions_called(const std::string &function, Bytes image);

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_IMAGE_HPP */
