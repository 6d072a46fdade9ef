/* SPDX-License-Identifier: MIT */
/* Kernels for CUDA GPUs. */
#ifndef PTSCHED_DEVICE_CUDA_CODE_HPP
#define PTSCHED_DEVICE_CUDA_CODE_HPP

#include "cuda.hpp"

namespace ptsched::device {

class CudaCode final : public Code {
public:
    /* The kernel of that name in a module that was loaded, and is unloaded with this. */
    CudaCode(const CudaDevice &device, CUmodule module, const std::string &function, const std::string &where);
    ~CudaCode() override;
    CudaCode(const CudaCode &) = delete;
    CudaCode &operator=(const CudaCode &) = delete;
    std::optional<std::vector<std::size_t>> parameter_sizes() const override;
    CUfunction function() const { return function_; }

private:
    const CudaDevice &device_;
    CUmodule module_;
    CUfunction function_{};
};

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_CUDA_CODE_HPP */
