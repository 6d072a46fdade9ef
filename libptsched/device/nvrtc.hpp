/* SPDX-License-Identifier: MIT */
/* CUDA's compiler as a library, found when it is needed. */
#ifndef PTSCHED_DEVICE_NVRTC_HPP
#define PTSCHED_DEVICE_NVRTC_HPP

#include <string>

namespace ptsched::device {

struct Cubin {
    std::string image;
    std::string function; /* the name there of what was asked for */
};

/*
 * For GPUs of that compute capability. Throws Error with what the compiler says, or without a compiler: libnvrtc of
 * CUDA 11 to 13, or the library that PTSCHED_NVRTC names.
 */
Cubin compile_cuda(const std::string &source, const std::string &function, int major, int minor);

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_NVRTC_HPP */
