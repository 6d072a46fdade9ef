// SPDX-License-Identifier: MIT
/* Functions that give a GPU work themselves. */
#include "libptsched/device/cuda_code.hpp"

#include <utility>

namespace ptsched::device {

namespace {

/* A function may leave another context: this thread goes on with the one that it had. */
class ContextKept {
public:
    explicit ContextKept(const CudaDevice &device) : device_(device) {}
    ~ContextKept()
    {
        const Driver &driver = device_.driver;
        CUcontext now = nullptr;
        if (driver.context_get(&now) != CUDA_SUCCESS || now != device_.context())
            driver.context_set(device_.context());
    }
    ContextKept(const ContextKept &) = delete;
    ContextKept &operator=(const ContextKept &) = delete;

private:
    const CudaDevice &device_;
};

class CudaStreamCode final : public CudaWork {
public:
    CudaStreamCode(const CudaDevice &device, StreamFunction function) : device_(device), function_(std::move(function))
    {
    }
    void give(CUstream stream, const Geometry &, const std::vector<void *> &arguments) const override
    {
        ContextKept kept(device_);
        function_({stream, device_.number(), arguments});
    }
    bool fits_programs() const override { return false; }

private:
    const CudaDevice &device_;
    const StreamFunction function_;
};

} // namespace

std::unique_ptr<Code> cuda_stream_code(Device &gpu, StreamFunction function)
{
    return std::make_unique<CudaStreamCode>(static_cast<CudaDevice &>(gpu), std::move(function));
}

} // namespace ptsched::device
