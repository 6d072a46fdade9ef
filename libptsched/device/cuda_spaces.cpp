// SPDX-License-Identifier: MIT
/* Managed memory, and memory of the host that is registered with the driver. */
#include "libptsched/device/backing.hpp"
#include "libptsched/device/cuda.hpp"

#include <algorithm>

namespace ptsched::device {

namespace {

CudaDevice &as_gpu(Device &device, const char *what)
{
    if (auto *gpu = dynamic_cast<CudaDevice *>(&device))
        return *gpu;
    throw Error(device.name() + " has no " + what + ": it is no GPU of CUDA");
}

bool has(const CudaDevice &gpu, CUdevice_attribute which)
{
    return gpu.attribute(which).has_value();
}

CUmem_advise number_of(Advice advice, bool holds)
{
    switch (advice) {
    case Advice::read_mostly:
        return holds ? CU_MEM_ADVISE_SET_READ_MOSTLY : CU_MEM_ADVISE_UNSET_READ_MOSTLY;
    case Advice::preferred_location:
        return holds ? CU_MEM_ADVISE_SET_PREFERRED_LOCATION : CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
    case Advice::accessed_by:
        break;
    }
    return holds ? CU_MEM_ADVISE_SET_ACCESSED_BY : CU_MEM_ADVISE_UNSET_ACCESSED_BY;
}

class Managed final : public Allocation::Backing {
public:
    Managed(CudaDevice &gpu, std::size_t bytes);
    ~Managed() override;
    bool reached_by(Device &device) const override;
    void advise(Advice advice, Device &device, bool holds, const Part &part) override;
    void prefetch(Device &to, Queue &queue, const Part &part) override;

private:
    /* Null: hints are of no use there. */
    std::optional<CUdevice> place_of(Device &device) const;

    CudaDevice &gpu_;
};

Managed::Managed(CudaDevice &gpu, std::size_t bytes) : Backing(Space::managed, gpu, bytes), gpu_(gpu)
{
    const auto allocate = gpu.driver.need(&Driver::managed_alloc, "managed memory");
    if (!has(gpu, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY))
        throw Error(gpu.name() + " has no managed memory");
    CUdeviceptr made = 0;
    Entered entered(gpu);
    const CUresult result = allocate(&made, std::max<std::size_t>(bytes, 1), CU_MEM_ATTACH_GLOBAL);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        throw OutOfMemory(gpu.name() + " has no managed memory for " + std::to_string(bytes) + " bytes");
    gpu.driver.check(result, "cuMemAllocManaged");
    address = made;
    host_address = host_pointer(made);
}

Managed::~Managed()
{
    try {
        Entered entered(gpu_);
        gpu_.driver.mem_free(address);
    } catch (const Error &) {
        /* The driver is going, and the memory with it. */
    }
}

bool Managed::reached_by(Device &device) const
{
    const auto *gpu = dynamic_cast<const CudaDevice *>(&device);
    return &device == &host() || (gpu && has(*gpu, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY));
}

std::optional<CUdevice> Managed::place_of(Device &device) const
{
    if (!has(gpu_, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS))
        return {};
    if (&device == &host())
        return CU_DEVICE_CPU;
    const auto *gpu = dynamic_cast<const CudaDevice *>(&device);
    if (!gpu || !has(*gpu, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS))
        return {};
    return gpu->number();
}

void Managed::advise(Advice advice, Device &device, bool holds, const Part &part)
{
    const auto place = place_of(device);
    if (!place || !gpu_.driver.advise)
        return;
    Entered entered(gpu_);
    gpu_.driver.check(
        gpu_.driver.advise(address + part.from, std::max<std::size_t>(part.bytes, 1), number_of(advice, holds), *place),
        "cuMemAdvise");
}

void Managed::prefetch(Device &to, Queue &queue, const Part &part)
{
    const auto place = place_of(to);
    auto *stream = static_cast<CUstream>(queue.native_stream());
    if (!stream)
        throw Error("managed memory is prefetched in the order of a queue that is no GPU's: of a GPU's, it must be");
    if (!place || !gpu_.driver.prefetch)
        return;
    Entered entered(gpu_);
    gpu_.driver.check(gpu_.driver.prefetch(address + part.from, std::max<std::size_t>(part.bytes, 1), *place, stream),
                      "cuMemPrefetchAsync");
}

/* For all GPUs; the driver wants one of them. */
class Registered final : public Allocation::Backing {
public:
    Registered(CudaDevice &gpu, void *memory, std::size_t bytes);
    ~Registered() override;
    bool reached_by(Device &device) const override
    {
        return &device == &host() || gpu_reaches_host(device, host_address);
    }

private:
    CudaDevice &gpu_;
};

Registered::Registered(CudaDevice &gpu, void *memory, std::size_t bytes)
    : Backing(Space::registered, host(), bytes), gpu_(gpu)
{
    const auto do_register = gpu.driver.need(&Driver::host_register, "registering memory of the host");
    gpu.driver.need(&Driver::host_unregister, "registering memory of the host");
    Entered entered(gpu);
    const CUresult result = do_register(memory, bytes, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
    if (result == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
        throw Error("some of " + std::to_string(bytes) +
                    " bytes of the host's memory is registered already: it can be once");
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        throw OutOfMemory("the host cannot pin " + std::to_string(bytes) + " bytes");
    gpu.driver.check(result, "cuMemHostRegister");
    host_address = memory;
    CUdeviceptr there = 0;
    /* Hardly ever another. */
    if (gpu.driver.host_device_pointer && gpu.driver.host_device_pointer(&there, memory, 0) == CUDA_SUCCESS)
        address = there;
    else
        address = reinterpret_cast<std::uintptr_t>(memory);
}

Registered::~Registered()
{
    try {
        Entered entered(gpu_);
        gpu_.driver.host_unregister(host_address);
    } catch (const Error &) {
        /* The driver is going. */
    }
}

} // namespace

BackingPtr make_managed(Device &gpu, std::size_t bytes)
{
    return std::make_unique<Managed>(as_gpu(gpu, "managed memory"), bytes);
}

BackingPtr make_registered(void *memory, std::size_t bytes)
{
    return std::make_unique<Registered>(static_cast<CudaDevice &>(*gpus()[0]), memory, bytes);
}

bool gpu_reaches_host(Device &device, void *memory)
{
    auto *gpu = dynamic_cast<CudaDevice *>(&device);
    CUdeviceptr there = 0;
    if (!gpu || !gpu->driver.host_device_pointer)
        return false;
    Entered entered(*gpu);
    return gpu->driver.host_device_pointer(&there, memory, 0) == CUDA_SUCCESS && host_pointer(there) == memory;
}

} // namespace ptsched::device
