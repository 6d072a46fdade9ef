// SPDX-License-Identifier: MIT
/*
 * Device memory between processes: the pages of an allocation become those of a memfd, which other processes of the
 * user find in /proc.
 */
#include "tests/vgpu/libcuda/work.h"

#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace vgpu {

namespace {

constexpr std::uint64_t magic = 0x7667707569706331;

struct Handle {
    std::uint64_t magic;
    std::int32_t pid, fd;
    std::uint64_t inode; /* a number of the same process that is another file's now is found out */
    std::uint64_t bytes;
    std::int32_t device, unused; /* all of it is compared */
};
static_assert(sizeof(Handle) <= sizeof(CUipcMemHandle));

/* A memfd with the content of the allocation, which it takes the place of. Nothing runs on the device. */
bool move_to_file(std::uintptr_t address, Allocation &allocation)
{
    const std::size_t bytes = occupied_bytes(allocation);
    const int fd = memfd_create("vgpu-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *mapping = MAP_FAILED;

    /* Nobody else may make pages of it disappear. */
    if (fd >= 0 && ftruncate(fd, static_cast<off_t>(bytes)) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapping != MAP_FAILED) {
        std::memcpy(mapping, as_pointer<void>(address), bytes);
        if (mremap(mapping, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, as_pointer<void>(address)) != MAP_FAILED) {
            allocation.shared = fd;
            return true;
        }
        munmap(mapping, bytes);
    }
    if (fd >= 0)
        close(fd);
    return false;
}

/* The memory that a handle is for, or MAP_FAILED. */
void *map(const Handle &handle, std::size_t bytes)
{
    const std::string path = "/proc/" + std::to_string(handle.pid) + "/fd/" + std::to_string(handle.fd);
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
    struct stat status {};
    void *mapping = MAP_FAILED;

    if (fd < 0)
        return mapping;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_ino == handle.inode &&
        static_cast<std::size_t>(status.st_size) == bytes && (fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK))
        mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return mapping;
}

/* What a handle has been opened as already, or end(). */
Allocations::iterator opened(const Handle &handle)
{
    auto &all = state().allocations;
    auto it = all.begin();
    while (it != all.end() && (it->second.kind != Allocation::opened || it->second.inode != handle.inode))
        ++it;
    return it;
}

CUresult open_again(CUcontext context, Allocations::iterator found, CUdeviceptr *pointer)
{
    /* One context of a process may, for each device. */
    if (found->second.context != context)
        return CUDA_ERROR_INVALID_CONTEXT;
    found->second.openings++;
    *pointer = found->first;
    return CUDA_SUCCESS;
}

} // namespace

bool take_back(std::uintptr_t address, Allocation &allocation)
{
    const std::size_t bytes = occupied_bytes(allocation);

    if (allocation.kind == Allocation::opened)
        return munmap(as_pointer<void>(address), bytes) == 0;
    if (allocation.shared < 0)
        return true;
    close(allocation.shared);
    return mmap(as_pointer<void>(address), bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                0) != MAP_FAILED;
}

} // namespace vgpu

using namespace vgpu;

VGPU_EXPORT CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr pointer)
{
    struct stat status {};

    VGPU_ENTER(lock);
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(refuse_if_unsafe());
    if (!state().ipc)
        return CUDA_ERROR_NOT_SUPPORTED;
    /* None begins while the lock is held: then the pages can be exchanged. */
    state().changed.wait(lock, [] { return state().lost || !state().bodies; });
    auto found = holding(static_cast<std::uintptr_t>(pointer));
    if (state().lost)
        return state().lost;
    if (found == state().allocations.end() || found->second.kind != Allocation::device_memory ||
        found->second.from_pool)
        return CUDA_ERROR_INVALID_VALUE;
    Allocation &allocation = found->second;
    if (allocation.shared < 0 && !move_to_file(found->first, allocation))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (fstat(allocation.shared, &status) < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    const Handle made{magic, getpid(), allocation.shared, status.st_ino, allocation.bytes, allocation.device, 0};
    *handle = {};
    std::memcpy(handle, &made, sizeof(made));
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *pointer, CUipcMemHandle opaque, unsigned int flags)
{
    Handle handle;
    CUcontext context;

    VGPU_ENTER(lock);
    State &s = state();
    std::memcpy(&handle, &opaque, sizeof(handle));
    if (!pointer || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(current_context(context));
    VGPU_TRY(refuse_if_unsafe());
    if (!s.ipc)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (handle.magic != magic || !handle.bytes || handle.bytes > device_memory_bytes() || handle.device < 0 ||
        static_cast<std::size_t>(handle.device) >= s.devices.size())
        return CUDA_ERROR_INVALID_HANDLE;
    if (handle.pid == getpid())
        return CUDA_ERROR_INVALID_CONTEXT;
    if (handle.device != context->device && !s.peers)
        return CUDA_ERROR_MAP_FAILED;
    if (auto found = opened(handle); found != s.allocations.end())
        return open_again(context, found, pointer);
    Allocation made{Allocation::opened, handle.bytes, context, handle.device, 0, ++s.ids};
    made.openings = 1;
    made.inode = handle.inode;
    void *mapping = map(handle, occupied_bytes(made));
    if (mapping == MAP_FAILED)
        return CUDA_ERROR_INVALID_HANDLE;
    *pointer = reinterpret_cast<std::uintptr_t>(mapping);
    s.allocations.emplace(reinterpret_cast<std::uintptr_t>(mapping), made);
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuIpcCloseMemHandle(CUdeviceptr pointer)
{
    VGPU_ENTER(lock);
    VGPU_TRY(refuse_if_unsafe());
    auto found = state().allocations.find(static_cast<std::uintptr_t>(pointer));
    if (found == state().allocations.end() || !found->second.openings)
        return CUDA_ERROR_INVALID_VALUE;
    if (--found->second.openings)
        return CUDA_SUCCESS;
    CUresult result = release_unused(lock, static_cast<std::uintptr_t>(pointer), [](const Allocation &allocation) {
        return allocation.kind == Allocation::opened && !allocation.openings;
    });
    /* Somebody has opened it again meanwhile. */
    return result == CUDA_ERROR_INVALID_VALUE ? CUDA_SUCCESS : result;
}
