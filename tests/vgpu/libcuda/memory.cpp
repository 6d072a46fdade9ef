// SPDX-License-Identifier: MIT
/* Memory: all of it is the host's, with a note of what kind it is to the device. */
#include "tests/vgpu/libcuda/own_addresses.h"
#include "tests/vgpu/libcuda/work.h"

#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace vgpu {

namespace {

constexpr std::size_t alignment = 512, page = 4096;

/* The host is not to know where it is. */
bool only_on_device(const Allocation &allocation)
{
    return allocation.kind == Allocation::device_memory || allocation.kind == Allocation::opened ||
           allocation.kind == Allocation::mapped;
}

std::size_t alignment_of(const Allocation &allocation)
{
    return only_on_device(allocation) ? page : alignment;
}

bool owned(const Allocation &allocation)
{
    return allocation.kind != Allocation::registered && allocation.kind != Allocation::opened &&
           allocation.kind != Allocation::mapped && allocation.context;
}

/* More than there is cannot be pinned. */
std::size_t host_memory_bytes()
{
    return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

CUresult allocate(CUcontext context, Allocation::Kind kind, std::size_t bytes, unsigned int flags, void *&pointer)
{
    State &s = state();
    bool on_device = kind == Allocation::device_memory || kind == Allocation::managed;

    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    if (kind == Allocation::host_memory && bytes > host_memory_bytes())
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (on_device)
        VGPU_TRY(take_memory(context->device, bytes));
    const Allocation made{kind, bytes, context, context->device, flags, s.ids + 1};
    pointer = s.own_addresses ? take_common(bytes) : std::aligned_alloc(alignment_of(made), occupied_bytes(made));
    if (!pointer) {
        if (on_device)
            give_memory_back(context->device, bytes);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    s.ids++;
    s.allocations.emplace(reinterpret_cast<std::uintptr_t>(pointer), made);
    return CUDA_SUCCESS;
}

CUresult allocate_here(Allocation::Kind kind, std::size_t bytes, unsigned int flags, void **pointer)
{
    CUcontext context;

    VGPU_ENTER(lock);
    if (!pointer)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(current_context(context));
    VGPU_TRY(state().lost);
    VGPU_TRY(refuse_if_unsafe());
    return allocate(context, kind, bytes, flags, *pointer);
}

CUresult allocate_device(Allocation::Kind kind, std::size_t bytes, unsigned int flags, CUdeviceptr *pointer)
{
    void *memory = nullptr;

    if (!pointer)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(allocate_here(kind, bytes, flags, &memory));
    *pointer = reinterpret_cast<std::uintptr_t>(memory);
    return CUDA_SUCCESS;
}

/* Frees what starts at the address, once nothing can be using it. */
CUresult free_here(std::uintptr_t address, bool host)
{
    VGPU_ENTER(lock);
    if (!address)
        return CUDA_SUCCESS;
    VGPU_TRY(refuse_if_unsafe());
    return release_unused(lock, address, [host](const Allocation &allocation) {
        return owned(allocation) && (allocation.kind == Allocation::host_memory) == host;
    });
}

CUresult pointer_attribute(void *data, CUpointer_attribute attribute, CUdeviceptr pointer)
{
    auto found = holding(static_cast<std::uintptr_t>(pointer));
    if (found == state().allocations.end())
        return CUDA_ERROR_INVALID_VALUE;
    const Allocation &a = found->second;
    bool host = a.kind == Allocation::host_memory || a.kind == Allocation::registered;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *static_cast<CUcontext *>(data) = a.context;
        break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *static_cast<unsigned int *>(data) = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *static_cast<CUdeviceptr *>(data) = pointer;
        break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (only_on_device(a))
            return CUDA_ERROR_INVALID_VALUE;
        *static_cast<void **>(data) = as_pointer<void>(pointer);
        break;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        *static_cast<unsigned int *>(data) = 0;
        break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *static_cast<unsigned long long *>(data) = a.id;
        break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *static_cast<unsigned int *>(data) = a.kind == Allocation::managed;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *static_cast<int *>(data) = a.device;
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *static_cast<CUdeviceptr *>(data) = found->first;
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *static_cast<std::size_t *>(data) = a.bytes;
        break;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *static_cast<unsigned int *>(data) = 1;
        break;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return CUDA_SUCCESS;
}

CUresult prefetch(CUdeviceptr pointer, std::size_t bytes, CUstream handle)
{
    StreamPtr stream;

    VGPU_TRY(ready());
    Guard lock(state().lock);
    VGPU_TRY(find_stream(handle, stream));
    VGPU_TRY(check_device_range(pointer, bytes));
    if (holding(static_cast<std::uintptr_t>(pointer))->second.kind != Allocation::managed)
        return CUDA_ERROR_INVALID_VALUE;
    /* Takes a copy's start-up; the memory is everywhere anyway. */
    Copy box;
    box.from = as_pointer<const char>(pointer);
    box.to = as_pointer<char>(pointer);
    box.height = 0;
    return dispatch(lock, stream, copy_work(box));
}

} // namespace

std::size_t occupied_bytes(const Allocation &allocation)
{
    const std::size_t unit = alignment_of(allocation);
    return (allocation.bytes + unit - 1) / unit * unit;
}

Allocations::iterator holding(std::uintptr_t address)
{
    auto &all = state().allocations;
    auto found = all.upper_bound(address);
    if (found == all.begin())
        return all.end();
    --found;
    return address - found->first < found->second.bytes ? found : all.end();
}

void release(Allocations::iterator found)
{
    Allocation &allocation = found->second;

    if (allocation.kind == Allocation::device_memory || allocation.kind == Allocation::managed)
        give_memory_back(allocation.device, allocation.bytes);
    if (state().own_addresses) {
        if (owned(allocation))
            give_common_back(reinterpret_cast<void *>(found->first), allocation.bytes);
    } else if (take_back(found->first, allocation) && owned(allocation)) {
        /* What others can write to is not for the next who asks for memory. */
        std::free(reinterpret_cast<void *>(found->first));
    }
    state().allocations.erase(found);
}

CUresult release_unused(Guard &lock, std::uintptr_t address, const std::function<bool(Allocation &)> &wanted)
{
    for (bool waited = false;; waited = true) {
        auto found = state().allocations.find(address);
        if (found == state().allocations.end() || !wanted(found->second))
            return CUDA_ERROR_INVALID_VALUE;
        if (waited) {
            release(found);
            return CUDA_SUCCESS;
        }
        VGPU_TRY(wait_context(lock, found->second.context));
    }
}

CUresult check_range_of(CUcontext context, CUdeviceptr pointer, std::size_t bytes)
{
    VGPU_TRY(check_device_range(pointer, bytes));
    if (!context || !state().contexts.count(context))
        return CUDA_ERROR_INVALID_CONTEXT;
    return holding(static_cast<std::uintptr_t>(pointer))->second.device == context->device ? CUDA_SUCCESS
                                                                                           : CUDA_ERROR_INVALID_VALUE;
}

CUresult check_device_range(CUdeviceptr pointer, std::size_t bytes)
{
    for (;;) {
        auto found = holding(static_cast<std::uintptr_t>(pointer));
        if (found == state().allocations.end())
            return CUDA_ERROR_INVALID_VALUE;
        const std::size_t left = found->second.bytes - (pointer - found->first);
        if (bytes <= left)
            return CUDA_SUCCESS;
        /* Pieces that were mapped side by side are one range. */
        if (found->second.kind != Allocation::mapped)
            return CUDA_ERROR_INVALID_VALUE;
        pointer += left;
        bytes -= left;
    }
}

/* What begins in registered memory ends there, as the driver has it; what begins elsewhere may end anywhere. */
CUresult check_host_range(std::uintptr_t pointer, std::size_t bytes)
{
    const auto found = holding(pointer);
    if (found == state().allocations.end() ||
        (found->second.kind != Allocation::registered && found->second.kind != Allocation::host_memory))
        return CUDA_SUCCESS;
    return bytes <= found->second.bytes - (pointer - found->first) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void free_context_memory(CUcontext context)
{
    auto &all = state().allocations;
    for (auto it = all.begin(); it != all.end();) {
        auto here = it++;
        if (here->second.context == context)
            release(here);
    }
}

} // namespace vgpu

using namespace vgpu;

VGPU_EXPORT CUresult cuMemGetInfo_v2(std::size_t *available, std::size_t *total)
{
    CUcontext context;

    VGPU_ENTER(lock);
    if (!available || !total)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(current_context(context));
    *total = device_memory_bytes();
    return available_memory(context->device, *available);
}

VGPU_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *pointer, std::size_t bytes)
{
    return allocate_device(Allocation::device_memory, bytes, 0, pointer);
}

VGPU_EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr *pointer, std::size_t *pitch, std::size_t width, std::size_t height,
                                        unsigned int element_bytes)
{
    if (!pitch || !width || !height || (element_bytes != 4 && element_bytes != 8 && element_bytes != 16))
        return CUDA_ERROR_INVALID_VALUE;
    *pitch = (width + alignment - 1) / alignment * alignment;
    return cuMemAlloc_v2(pointer, *pitch * height);
}

VGPU_EXPORT CUresult cuMemAllocManaged(CUdeviceptr *pointer, std::size_t bytes, unsigned int flags)
{
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    return allocate_device(Allocation::managed, bytes, flags, pointer);
}

VGPU_EXPORT CUresult cuMemFree_v2(CUdeviceptr pointer)
{
    return free_here(static_cast<std::uintptr_t>(pointer), false);
}

VGPU_EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, std::size_t *size, CUdeviceptr pointer)
{
    VGPU_ENTER(lock);
    auto found = holding(static_cast<std::uintptr_t>(pointer));
    if (found == state().allocations.end())
        return CUDA_ERROR_NOT_FOUND;
    if (base)
        *base = found->first;
    if (size)
        *size = found->second.bytes;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuMemHostAlloc(void **pointer, std::size_t bytes, unsigned int flags)
{
    if (flags & ~static_cast<unsigned int>(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP |
                                           CU_MEMHOSTALLOC_WRITECOMBINED))
        return CUDA_ERROR_INVALID_VALUE;
    return allocate_here(Allocation::host_memory, bytes, flags, pointer);
}

VGPU_EXPORT CUresult cuMemAllocHost_v2(void **pointer, std::size_t bytes)
{
    return cuMemHostAlloc(pointer, bytes, 0);
}

VGPU_EXPORT CUresult cuMemFreeHost(void *pointer)
{
    return free_here(reinterpret_cast<std::uintptr_t>(pointer), true);
}

VGPU_EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *pointer, void *host, unsigned int flags)
{
    VGPU_ENTER(lock);
    if (!pointer || flags)
        return CUDA_ERROR_INVALID_VALUE;
    auto found = holding(reinterpret_cast<std::uintptr_t>(host));
    if (found == state().allocations.end() || only_on_device(found->second))
        return CUDA_ERROR_INVALID_VALUE;
    *pointer = reinterpret_cast<std::uintptr_t>(host);
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuMemHostGetFlags(unsigned int *flags, void *host)
{
    VGPU_ENTER(lock);
    auto found = holding(reinterpret_cast<std::uintptr_t>(host));
    if (!flags || found == state().allocations.end() || found->second.kind != Allocation::host_memory)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = found->second.flags | CU_MEMHOSTALLOC_DEVICEMAP;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuMemHostRegister_v2(void *pointer, std::size_t bytes, unsigned int flags)
{
    CUcontext context;

    VGPU_ENTER(lock);
    if (!pointer || !bytes)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(current_context(context));
    VGPU_TRY(refuse_if_unsafe());
    auto address = reinterpret_cast<std::uintptr_t>(pointer);
    auto next = state().allocations.lower_bound(address);
    if (holding(address) != state().allocations.end() ||
        (next != state().allocations.end() && next->first < address + bytes))
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    state().allocations.emplace(
        address, Allocation{Allocation::registered, bytes, context, context->device, flags, ++state().ids});
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuMemHostUnregister(void *pointer)
{
    VGPU_ENTER(lock);
    VGPU_TRY(refuse_if_unsafe());
    auto found = state().allocations.find(reinterpret_cast<std::uintptr_t>(pointer));
    if (found == state().allocations.end() || found->second.kind != Allocation::registered)
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    state().allocations.erase(found);
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuMemAllocAsync(CUdeviceptr *pointer, std::size_t bytes, CUstream handle)
{
    StreamPtr stream;
    void *memory = nullptr;

    VGPU_ENTER(lock);
    if (!pointer)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(find_stream(handle, stream));
    if (stream->capture)
        return CUDA_ERROR_NOT_SUPPORTED;
    VGPU_TRY(allocate(stream->context, Allocation::device_memory, bytes, 0, memory));
    *pointer = reinterpret_cast<std::uintptr_t>(memory);
    holding(reinterpret_cast<std::uintptr_t>(memory))->second.from_pool = true;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer, std::size_t bytes, CUmemoryPool, CUstream stream)
{
    return cuMemAllocAsync(pointer, bytes, stream);
}

VGPU_EXPORT CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream handle)
{
    StreamPtr stream;

    VGPU_ENTER(lock);
    VGPU_TRY(find_stream(handle, stream));
    if (stream->capture)
        return CUDA_ERROR_NOT_SUPPORTED;
    auto found = state().allocations.find(static_cast<std::uintptr_t>(pointer));
    if (found == state().allocations.end() || found->second.kind != Allocation::device_memory)
        return CUDA_ERROR_INVALID_VALUE;
    Op op;
    op.body = [pointer] {
        Guard own(state().lock);
        auto again = state().allocations.find(static_cast<std::uintptr_t>(pointer));
        if (again != state().allocations.end())
            release(again);
        return std::uint64_t{0};
    };
    return enqueue(lock, stream, std::move(op));
}

/* Pools keep nothing for later here, so that all of a device are one. */
static CUresult pool_of(CUdevice device, CUmemoryPool *pool)
{
    VGPU_ENTER(lock);
    if (!pool)
        return CUDA_ERROR_INVALID_VALUE;
    if (device < 0 || static_cast<std::size_t>(device) >= state().devices.size())
        return CUDA_ERROR_INVALID_DEVICE;
    *pool = reinterpret_cast<CUmemoryPool>(&state().devices[static_cast<std::size_t>(device)]);
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    return pool_of(device, pool);
}

VGPU_EXPORT CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties)
{
    if (!properties || properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    return pool_of(properties->location.id, pool);
}

VGPU_EXPORT CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    return pool ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

VGPU_EXPORT CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
    return pool_of(device, pool);
}

VGPU_EXPORT CUresult cuMemAdvise(CUdeviceptr pointer, std::size_t bytes, CUmem_advise, CUdevice)
{
    VGPU_ENTER(lock);
    return check_device_range(pointer, bytes);
}

VGPU_EXPORT CUresult cuMemAdvise_v2(CUdeviceptr pointer, std::size_t bytes, CUmem_advise, CUmemLocation)
{
    VGPU_ENTER(lock);
    return check_device_range(pointer, bytes);
}

VGPU_EXPORT CUresult cuMemPrefetchAsync(CUdeviceptr pointer, std::size_t bytes, CUdevice, CUstream stream)
{
    return prefetch(pointer, bytes, stream);
}

VGPU_EXPORT CUresult cuMemPrefetchAsync_v2(CUdeviceptr pointer, std::size_t bytes, CUmemLocation, unsigned int flags,
                                           CUstream stream)
{
    return flags ? CUDA_ERROR_INVALID_VALUE : prefetch(pointer, bytes, stream);
}

VGPU_EXPORT CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr pointer)
{
    VGPU_ENTER(lock);
    return data ? pointer_attribute(data, attribute, pointer) : CUDA_ERROR_INVALID_VALUE;
}

/* Unlike the single query, this one knows addresses that are not the driver's: everything about them is zero. */
VGPU_EXPORT CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute *attributes, void **data,
                                            CUdeviceptr pointer)
{
    VGPU_ENTER(lock);
    if (!attributes || !data)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; i < count; i++) {
        CUresult result = pointer_attribute(data[i], attributes[i], pointer);
        if (result == CUDA_ERROR_INVALID_VALUE)
            std::memset(data[i], 0,
                        attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE ||
                                attributes[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED ||
                                attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL ||
                                attributes[i] == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ||
                                attributes[i] == CU_POINTER_ATTRIBUTE_MAPPED
                            ? 4
                            : 8);
        else if (result)
            return result;
    }
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr pointer)
{
    VGPU_ENTER(lock);
    if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
        return CUDA_ERROR_INVALID_VALUE;
    return check_device_range(pointer, 1);
}
