// SPDX-License-Identifier: MIT
#include "libptsched/base/worker.hpp"
#include "libptsched/ptask/ipc/packet.hpp"
#include <ptsched/ptask/shared_memory.hpp>

#include <cerrno>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace ptsched::ptask {

namespace {

constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

} // namespace

SharedMemory::SharedMemory(std::size_t bytes) : bytes_(bytes)
{
    if (!bytes)
        return;
    fd_ = above_streams(memfd_create("ptask-datablock", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    /* Nobody is to find out later that there is no memory. */
    if (!fd_ || fallocate(fd_.get(), 0, 0, static_cast<off_t>(bytes)) < 0)
        throw Error(system_error_text("no shared memory of " + std::to_string(bytes) + " bytes"));
    void *data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
    if (data == MAP_FAILED)
        throw Error(system_error_text("no mapping of " + std::to_string(bytes) + " bytes"));
    data_ = data;
}

SharedMemory::~SharedMemory()
{
    unmap();
}

void SharedMemory::unmap()
{
    if (void *data = std::exchange(data_, nullptr))
        munmap(data, bytes_);
}

UniqueFd SharedMemory::seal() &&
{
    unmap();
    if (fd_ && fcntl(fd_.get(), F_ADD_SEALS, seals) < 0)
        throw Error(system_error_text("shared memory cannot be sealed"));
    return std::move(fd_);
}

SharedMemory shared_copy(Datablock &block)
{
    SharedMemory memory(block.bytes());
    if (memory.bytes())
        block.read_into(memory.data());
    return memory;
}

DatablockPtr map_shared(const UniqueFd &memory, std::size_t bytes)
{
    struct stat status = {};
    struct statfs system = {};

    if (!bytes)
        return Datablock::over("", 0, std::make_shared<char>());
    if (!memory)
        throw Error("a datablock of " + std::to_string(bytes) + " bytes came without memory");
    const int has = fcntl(memory.get(), F_GET_SEALS);
    if (has < 0 || (has & seals) != seals)
        throw Error("a datablock's memory is not a memfd with F_SEAL_SHRINK, F_SEAL_GROW and F_SEAL_WRITE");
    /* Pages that there are not might not be found when somebody reads them: that would be a SIGBUS. */
    if (fstatfs(memory.get(), &system) < 0 || system.f_type != TMPFS_MAGIC)
        throw Error("a datablock's memory is not of ordinary pages");
    if (fstat(memory.get(), &status) < 0 || static_cast<std::size_t>(status.st_size) != bytes)
        throw Error("a datablock of " + std::to_string(bytes) + " bytes came with memory of " +
                    std::to_string(status.st_size));
    /* Pages behind the end go, which would be counted; no more can come there. */
    if (ftruncate(memory.get(), status.st_size) < 0 || fstat(memory.get(), &status) < 0)
        throw Error(system_error_text("a datablock's memory cannot be examined, which needs a descriptor to write"));
    if (static_cast<std::size_t>(status.st_blocks) * 512 < bytes)
        throw Error("a datablock's memory has holes");
    /* Private: older kernels refuse a shared mapping of what is sealed. Nobody can write it, so it is not copied. */
    void *data = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, memory.get(), 0);
    if (data == MAP_FAILED)
        throw Error(system_error_text("a datablock of another process cannot be mapped"));
    std::shared_ptr<void> owner(data, [bytes](void *mapping) { munmap(mapping, bytes); });
    return Datablock::over(data, bytes, std::move(owner));
}

} // namespace ptsched::ptask
