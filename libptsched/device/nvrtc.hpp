/* SPDX-License-Identifier: MIT */
/* CUDA's compiler as a library, found when it is needed. */
#ifndef PTSCHED_DEVICE_NVRTC_HPP
#define PTSCHED_DEVICE_NVRTC_HPP

#include <ptsched/device/device.hpp>

#include <map>

namespace ptsched::device {

/* What a text has become for an architecture. */
struct Cubin {
    std::string image;
    std::map<std::string, std::string> names; /* there, of the kernels that were asked for */
};

/*
 * One that has the kernel, for GPUs of that compute capability. A text is compiled once for all of its kernels that are
 * no templates. Throws Error with what the compiler says, or without a compiler: libnvrtc of CUDA 11 to 13, or the
 * library that PTSCHED_NVRTC names. Thread-safe; one thread compiles at a time.
 */
std::shared_ptr<const Cubin> compile_cuda(const CudaSource &source, const std::string &function, int major, int minor);

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_NVRTC_HPP */
