// SPDX-License-Identifier: MIT
/*
 * Addresses and memory apart: ranges of addresses that are reserved, memory (a memfd each) that is mapped there, and
 * which devices may touch it.
 */
#include "tests/vgpu/libcuda/own_addresses.h"
#include "tests/vgpu/libcuda/work.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace vgpu {

namespace {

/* The real driver has 2 MiB, of which there would be few in a device of little memory. */
constexpr std::size_t granularity = 64 << 10;

/* Memory without an address. It lives as long as a handle is held or it is mapped. */
struct Memory {
    CUmemAllocationProp properties;
    std::size_t bytes = 0;
    int fd = -1;
    bool counted = false; /* as used by this process: it was not imported */

    ~Memory()
    {
        if (fd >= 0)
            close(fd);
        if (counted)
            give_memory_back(properties.location.id, bytes);
    }
};
using MemoryPtr = std::shared_ptr<Memory>;

struct Held {
    MemoryPtr memory;
    unsigned int holds = 1;
};

struct Range {
    std::size_t bytes;
    char *behind = nullptr; /* where the host has what is mapped there, if not there */
};
using Ranges = std::map<std::uintptr_t, Range>;

struct Mapping {
    MemoryPtr memory;
    std::size_t bytes, offset;
    std::map<CUdevice, CUmemAccess_flags> access = {};
};
using Mappings = std::map<std::uintptr_t, Mapping>;

/* Protected by the driver's lock. */
struct AddressSpace {
    Ranges reserved;
    std::map<CUmemGenericAllocationHandle, Held> handles;
    Mappings mappings;
};

AddressSpace &space()
{
    static AddressSpace &made = *new AddressSpace;
    return made;
}

bool whole(std::uint64_t value)
{
    return value % granularity == 0;
}

bool valid_device(int device)
{
    return device >= 0 && static_cast<std::size_t>(device) < state().devices.size();
}

CUresult check_properties(const CUmemAllocationProp *properties)
{
    if (!virtual_memory_supported())
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!properties || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!valid_device(properties->location.id))
        return CUDA_ERROR_INVALID_DEVICE;
    const int types = properties->requestedHandleTypes;
    return types & ~static_cast<int>(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) ? CUDA_ERROR_NOT_SUPPORTED
                                                                               : CUDA_SUCCESS;
}

void *reserve(std::uintptr_t wanted, std::size_t bytes, int flags)
{
    void *address = mmap(reinterpret_cast<void *>(wanted), bytes, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
    return address == MAP_FAILED ? nullptr : address;
}

/* Null if something is there. */
void *reserve_at(std::uintptr_t wanted, std::size_t bytes)
{
    void *address = reserve(wanted, bytes, MAP_FIXED_NOREPLACE);
    if (!address || reinterpret_cast<std::uintptr_t>(address) == wanted)
        return address;
    munmap(address, bytes);
    return nullptr;
}

/* Anywhere: of a range that is large enough, the part that begins as it should is kept. */
void *reserve_aligned(std::size_t bytes, std::size_t alignment)
{
    auto *from = static_cast<char *>(reserve(0, bytes + alignment, 0));
    if (!from)
        return nullptr;
    const std::size_t before = -reinterpret_cast<std::uintptr_t>(from) & (alignment - 1);
    if (before)
        munmap(from, before);
    munmap(from + before + bytes, alignment - before);
    return from + before;
}

/* The reservation that has all of a range, or end(). */
Ranges::iterator reservation_of(std::uintptr_t address, std::size_t bytes)
{
    auto &all = space().reserved;
    auto found = all.upper_bound(address);
    if (found == all.begin())
        return all.end();
    --found;
    const std::size_t before = address - found->first;
    return before <= found->second.bytes && bytes <= found->second.bytes - before ? found : all.end();
}

/* The first mapping that has something of a range, or end(). */
Mappings::iterator first_mapping(std::uintptr_t address, std::size_t bytes)
{
    auto &all = space().mappings;
    auto next = all.lower_bound(address);
    if (next != all.begin() && address - std::prev(next)->first < std::prev(next)->second.bytes)
        return std::prev(next);
    return next != all.end() && next->first - address < bytes ? next : all.end();
}

/* The mappings that a range consists of; none, if it does not consist of whole ones. */
std::vector<Mappings::iterator> mappings_of(std::uintptr_t address, std::size_t bytes)
{
    std::vector<Mappings::iterator> result;
    const std::uintptr_t end = address + bytes;
    for (auto it = space().mappings.find(address); address < end; ++it) {
        if (it == space().mappings.end() || it->first != address || it->second.bytes > end - address)
            return {};
        result.push_back(it);
        address += it->second.bytes;
    }
    return result;
}

int make_file(const CUmemAllocationProp &properties, std::size_t bytes)
{
    /* Who imports it learns from the name which device it is on. */
    const std::string name = "vgpu-device-" + std::to_string(properties.location.id);
    const int fd = memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && ftruncate(fd, static_cast<off_t>(bytes)) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* The device whose memory a file is, or -1. */
int device_of(int fd)
{
    char name[64] = "";
    int device = -1;
    const ssize_t length = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), name, sizeof(name) - 1);
    if (length <= 0 || std::sscanf(name, "/memfd:vgpu-device-%d", &device) != 1 || !valid_device(device))
        return -1;
    return fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK ? device : -1;
}

CUmemGenericAllocationHandle hold(MemoryPtr memory)
{
    const CUmemGenericAllocationHandle handle = ++state().ids;
    space().handles.emplace(handle, Held{std::move(memory)});
    return handle;
}

Held *find(CUmemGenericAllocationHandle handle)
{
    auto found = space().handles.find(handle);
    return found == space().handles.end() ? nullptr : &found->second;
}

/* The host can do what at least one device may: it is the host that carries out what they do. */
bool protect(std::uintptr_t address, const Mapping &what, int flags)
{
    const int protection = (flags & CU_MEM_ACCESS_FLAGS_PROT_READ ? PROT_READ : 0) |
                           (flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? PROT_WRITE : 0);
    return mprotect(reinterpret_cast<void *>(address), what.bytes, protection) == 0;
}

/* What is at the address itself is the host's own concern. */
bool show(std::uintptr_t address, const Mapping &what, const CUmemAccessDesc &access)
{
    const unsigned int rights = access.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? read_right | write_right
                                : access.flags == CU_MEM_ACCESS_FLAGS_PROT_READ    ? read_right
                                                                                   : no_rights;
    return show_piece({address, what.bytes, what.memory->fd, what.offset}, access.location.id, rights);
}

CUresult give_access(Mappings::iterator mapping, const CUmemAccessDesc &access)
{
    auto &[address, what] = *mapping;
    int flags = 0;

    what.access[access.location.id] = access.flags;
    for (const auto &[device, allowed] : what.access)
        flags |= allowed;
    if (!(state().own_addresses ? show(address, what, access) : protect(address, what, flags)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    State &s = state();
    if (flags)
        s.allocations.try_emplace(address, Allocation{Allocation::mapped, what.bytes, nullptr,
                                                      what.memory->properties.location.id, 0, ++s.ids});
    else
        s.allocations.erase(address);
    return CUDA_SUCCESS;
}

CUresult check_access(const CUmemAccessDesc &access, const Memory &memory)
{
    if (access.location.type != CU_MEM_LOCATION_TYPE_DEVICE || !valid_device(access.location.id))
        return CUDA_ERROR_INVALID_DEVICE;
    if (access.flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && access.flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
        access.flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return CUDA_ERROR_INVALID_VALUE;
    return access.location.id == memory.properties.location.id || state().peers ? CUDA_SUCCESS
                                                                                : CUDA_ERROR_INVALID_DEVICE;
}

/* Where a range's mappings are to be for the host. */
char *place_of(std::uintptr_t address, Ranges::iterator range)
{
    return range->second.behind ? range->second.behind + (address - range->first) : reinterpret_cast<char *>(address);
}

} // namespace

std::vector<std::pair<std::uintptr_t, std::size_t>> reserved_ranges()
{
    std::vector<std::pair<std::uintptr_t, std::size_t>> result;
    for (const auto &[begin, range] : space().reserved)
        result.emplace_back(begin, range.bytes);
    return result;
}

char *behind(char *address)
{
    const auto number = reinterpret_cast<std::uintptr_t>(address);
    const auto range = reservation_of(number, 1);
    return range == space().reserved.end() ? address : place_of(number, range);
}

bool virtual_memory_supported()
{
    const char *text = std::getenv("PTSCHED_VGPU_VMM");
    return !text || std::atoi(text);
}

} // namespace vgpu

using namespace vgpu;

VGPU_EXPORT CUresult cuMemAddressReserve(CUdeviceptr *pointer, std::size_t bytes, std::size_t alignment,
                                         CUdeviceptr wanted, unsigned long long flags)
{
    VGPU_ENTER(lock);
    if (!pointer || !bytes || !whole(bytes) || !whole(wanted) || flags ||
        (alignment && !std::has_single_bit(alignment)))
        return CUDA_ERROR_INVALID_VALUE;
    if (!virtual_memory_supported())
        return CUDA_ERROR_NOT_SUPPORTED;
    alignment = std::max(alignment, granularity);
    void *address = nullptr;
    if (wanted && wanted % alignment == 0)
        address = reserve_at(static_cast<std::uintptr_t>(wanted), bytes);
    if (!address)
        address = reserve_aligned(bytes, alignment);
    if (!address)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *pointer = reinterpret_cast<std::uintptr_t>(address);
    space().reserved.emplace(reinterpret_cast<std::uintptr_t>(address), Range{bytes});
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuMemAddressFree(CUdeviceptr pointer, std::size_t bytes)
{
    const auto address = static_cast<std::uintptr_t>(pointer);

    VGPU_ENTER(lock);
    auto found = space().reserved.find(address);
    if (found == space().reserved.end() || found->second.bytes != bytes ||
        first_mapping(address, bytes) != space().mappings.end())
        return CUDA_ERROR_INVALID_VALUE;
    munmap(reinterpret_cast<void *>(address), bytes);
    if (found->second.behind)
        munmap(found->second.behind, bytes);
    space().reserved.erase(found);
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, std::size_t bytes,
                                 const CUmemAllocationProp *properties, unsigned long long flags)
{
    VGPU_ENTER(lock);
    if (!handle || !bytes || !whole(bytes) || flags)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(check_properties(properties));
    VGPU_TRY(take_memory(properties->location.id, bytes));
    auto memory = std::make_shared<Memory>();
    memory->properties = *properties;
    memory->bytes = bytes;
    memory->counted = true;
    memory->fd = make_file(*properties, bytes);
    if (memory->fd < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *handle = hold(std::move(memory));
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    VGPU_ENTER(lock);
    Held *held = find(handle);
    if (!held)
        return CUDA_ERROR_INVALID_VALUE;
    if (--held->holds == 0)
        space().handles.erase(handle);
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuMemMap(CUdeviceptr pointer, std::size_t bytes, std::size_t offset,
                              CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    const auto address = static_cast<std::uintptr_t>(pointer);

    VGPU_ENTER(lock);
    const Held *held = find(handle);
    if (!held || !bytes || !whole(pointer) || !whole(bytes) || !whole(offset) || flags ||
        offset > held->memory->bytes || bytes > held->memory->bytes - offset)
        return CUDA_ERROR_INVALID_VALUE;
    const auto range = reservation_of(address, bytes);
    if (range == space().reserved.end() || first_mapping(address, bytes) != space().mappings.end())
        return CUDA_ERROR_INVALID_VALUE;
    if (state().own_addresses && !range->second.behind)
        range->second.behind = static_cast<char *>(reserve(0, range->second.bytes, 0));
    if (state().own_addresses && !range->second.behind)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (mmap(place_of(address, range), bytes, range->second.behind ? PROT_READ | PROT_WRITE : PROT_NONE,
             MAP_SHARED | MAP_FIXED, held->memory->fd, static_cast<off_t>(offset)) == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    space().mappings.emplace(address, Mapping{held->memory, bytes, offset});
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuMemUnmap(CUdeviceptr pointer, std::size_t bytes)
{
    VGPU_ENTER(lock);
    const auto address = static_cast<std::uintptr_t>(pointer);
    const auto mappings = mappings_of(address, bytes);
    if (mappings.empty() ||
        !reserve(reinterpret_cast<std::uintptr_t>(place_of(address, reservation_of(address, bytes))), bytes, MAP_FIXED))
        return CUDA_ERROR_INVALID_VALUE;
    for (auto mapping : mappings) {
        hide_piece(mapping->first);
        state().allocations.erase(mapping->first);
        space().mappings.erase(mapping);
    }
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuMemSetAccess(CUdeviceptr pointer, std::size_t bytes, const CUmemAccessDesc *access,
                                    std::size_t count)
{
    VGPU_ENTER(lock);
    const auto mappings = mappings_of(static_cast<std::uintptr_t>(pointer), bytes);
    if (!access || !count || mappings.empty())
        return CUDA_ERROR_INVALID_VALUE;
    for (auto mapping : mappings)
        for (std::size_t i = 0; i < count; i++)
            VGPU_TRY(check_access(access[i], *mapping->second.memory));
    for (auto mapping : mappings)
        for (std::size_t i = 0; i < count; i++)
            VGPU_TRY(give_access(mapping, access[i]));
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr pointer)
{
    VGPU_ENTER(lock);
    auto mapping = first_mapping(static_cast<std::uintptr_t>(pointer), 1);
    if (!flags || !location || location->type != CU_MEM_LOCATION_TYPE_DEVICE || mapping == space().mappings.end())
        return CUDA_ERROR_INVALID_VALUE;
    auto found = mapping->second.access.find(location->id);
    *flags = found == mapping->second.access.end() ? CU_MEM_ACCESS_FLAGS_PROT_NONE : found->second;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuMemGetAllocationGranularity(std::size_t *bytes, const CUmemAllocationProp *properties,
                                                   CUmemAllocationGranularity_flags option)
{
    VGPU_ENTER(lock);
    if (!bytes || (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM && option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(check_properties(properties));
    *bytes = granularity;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *properties,
                                                            CUmemGenericAllocationHandle handle)
{
    VGPU_ENTER(lock);
    const Held *held = find(handle);
    if (!properties || !held)
        return CUDA_ERROR_INVALID_VALUE;
    *properties = held->memory->properties;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address)
{
    VGPU_ENTER(lock);
    auto mapping = first_mapping(reinterpret_cast<std::uintptr_t>(address), 1);
    if (!handle || mapping == space().mappings.end())
        return CUDA_ERROR_INVALID_VALUE;
    for (auto &[known, held] : space().handles)
        if (held.memory == mapping->second.memory) {
            held.holds++;
            *handle = known;
            return CUDA_SUCCESS;
        }
    *handle = hold(mapping->second.memory);
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuMemExportToShareableHandle(void *shareable, CUmemGenericAllocationHandle handle,
                                                  CUmemAllocationHandleType type, unsigned long long flags)
{
    VGPU_ENTER(lock);
    const Held *held = find(handle);
    if (!shareable || !held || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        held->memory->properties.requestedHandleTypes != type)
        return CUDA_ERROR_INVALID_VALUE;
    const int fd = fcntl(held->memory->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    std::memcpy(shareable, &fd, sizeof(fd));
    return CUDA_SUCCESS;
}

/* The descriptor stays the caller's. */
VGPU_EXPORT CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shareable,
                                                    CUmemAllocationHandleType type)
{
    const int fd = static_cast<int>(reinterpret_cast<std::intptr_t>(shareable));
    struct stat status {};

    VGPU_ENTER(lock);
    if (!handle || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_INVALID_VALUE;
    const int device = device_of(fd);
    if (device < 0 || fstat(fd, &status) < 0)
        return CUDA_ERROR_INVALID_VALUE;
    auto memory = std::make_shared<Memory>();
    memory->properties = {CU_MEM_ALLOCATION_TYPE_PINNED, type, {CU_MEM_LOCATION_TYPE_DEVICE, device}, nullptr, {}};
    memory->bytes = static_cast<std::size_t>(status.st_size);
    memory->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (memory->fd < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    *handle = hold(std::move(memory));
    return CUDA_SUCCESS;
}
