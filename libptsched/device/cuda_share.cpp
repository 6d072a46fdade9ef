// SPDX-License-Identifier: MIT
/* Memory of CUDA GPUs for other processes (CUDA IPC). */
#include "libptsched/device/cuda.hpp"

#include <cstring>

namespace ptsched::device {

static_assert(sizeof(CUipcMemHandle) == sizeof(ShareHandle::opaque));

std::optional<ShareHandle> CudaDevice::share(Address address, std::size_t bytes)
{
    ShareHandle shared;
    CUipcMemHandle handle;
    CUdeviceptr base = 0;
    std::size_t size = 0;

    if (!driver.ipc_get)
        return {};
    Entered entered(*this);
    if (driver.address_range(&base, &size, address) != CUDA_SUCCESS || bytes > size - (address - base) ||
        driver.ipc_get(&handle, base) != CUDA_SUCCESS)
        return {};
    std::memcpy(shared.opaque.data(), &handle, sizeof(handle));
    shared.offset = address - base;
    return shared;
}

Mapping CudaDevice::map_shared(const ShareHandle &shared, std::size_t bytes)
{
    CUipcMemHandle handle;
    CUdeviceptr mapped = 0, base = 0;
    std::size_t size = 0;

    if (!driver.ipc_get)
        return Device::map_shared(shared, bytes);
    /* Kernels may rely on it, and one that meets less takes the context with it. */
    if (shared.offset % allocation_alignment)
        throw Error("what another process has shared begins at " + std::to_string(shared.offset) +
                    ", not at a multiple of " + std::to_string(allocation_alignment) + " bytes");
    std::memcpy(&handle, shared.opaque.data(), sizeof(handle));
    Entered entered(*this);
    driver.check(driver.ipc_open(&mapped, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
                 "memory of another process cannot be mapped: cuIpcOpenMemHandle");
    std::shared_ptr<void> owner(host_pointer(mapped), [this, mapped](void *) { unmap(mapped); });
    driver.check(driver.address_range(&base, &size, mapped), "cuMemGetAddressRange");
    const std::size_t room = size - (mapped - base);
    if (shared.offset > room || bytes > room - shared.offset)
        throw Error("what another process has shared has " + std::to_string(room) + " bytes, and not " +
                    std::to_string(bytes) + " from " + std::to_string(shared.offset) + " on");
    return {mapped + shared.offset, std::move(owner)};
}

void CudaDevice::unmap(Address mapped) noexcept
{
    try {
        Entered entered(*this);
        driver.ipc_close(mapped);
    } catch (const Error &) {
        /* The driver is going, and the mapping with it. */
    }
}

} // namespace ptsched::device
