/* SPDX-License-Identifier: MIT */
/* Kernels for CUDA GPUs. */
#ifndef PTSCHED_DEVICE_CUDA_CODE_HPP
#define PTSCHED_DEVICE_CUDA_CODE_HPP

#include "libptsched/device/cuda.hpp"

namespace ptsched::device {

class NoKernel : public Error {
public:
    using Error::Error;
};

/* One that was loaded, and is unloaded with this. */
class CudaModule {
public:
    CudaModule(const CudaDevice &device, CUmodule handle) : device(device), handle(handle) {}
    ~CudaModule();
    CudaModule(const CudaModule &) = delete;
    CudaModule &operator=(const CudaModule &) = delete;

    const CudaDevice &device;
    const CUmodule handle;
};
using CudaModulePtr = std::shared_ptr<const CudaModule>;

/* What a stream can be given. */
class CudaWork : public Code {
public:
    /* The device's context is current. */
    virtual void give(CUstream stream, const Geometry &geometry, const std::vector<void *> &arguments) const = 0;
    virtual void give_cooperative(CUstream stream, const Geometry &geometry,
                                  const std::vector<void *> &arguments) const;
};

class CudaCode final : public CudaWork {
public:
    /* Throws NoKernel if the module has none of that name. */
    CudaCode(CudaModulePtr module, const std::string &function, const std::string &where);
    std::optional<std::vector<std::size_t>> parameter_sizes() const override;
    bool has_variables() const override { return true; }
    std::optional<Variable> variable(const std::string &name) const override;
    void prepare(const Geometry &geometry) const override;
    std::optional<std::size_t> most_blocks(const Geometry &geometry) const override;
    std::optional<unsigned> best_block(unsigned shared_bytes) const override;
    void give(CUstream stream, const Geometry &geometry, const std::vector<void *> &arguments) const override;
    void give_cooperative(CUstream stream, const Geometry &geometry,
                          const std::vector<void *> &arguments) const override;
    CUfunction function() const { return function_; }

private:
    std::optional<int> attribute(CUfunction_attribute which) const;
    void allow_shared(unsigned bytes) const;

    CudaModulePtr module_;
    CUfunction function_{};
    const std::string name_;
};

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_CUDA_CODE_HPP */
