// SPDX-License-Identifier: MIT
#include "libptsched/tasks/checked/guarded.hpp"

#include <ptsched/device/device.hpp>

#include <algorithm>
#include <sys/mman.h>
#include <utility>

namespace ptsched::tasks {

Guarded::Guarded(std::size_t bytes) : all_{}, data_{}
{
    if (bytes > PTRDIFF_MAX / 2)
        throw device::OutOfMemory("tasks: no room for an array of " + std::to_string(bytes) + " bytes");
    const std::size_t inner = (std::max<std::size_t>(bytes, 1) + page_bytes - 1) & -page_bytes;
    const std::size_t size = inner + 2 * page_bytes;
    void *memory = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        throw device::OutOfMemory("tasks: no room for an array of " + std::to_string(bytes) + " bytes");
    all_ = {reinterpret_cast<std::uintptr_t>(memory), reinterpret_cast<std::uintptr_t>(memory) + size};
    if (mprotect(pages().data(), inner, PROT_READ | PROT_WRITE)) {
        munmap(memory, size);
        throw device::OutOfMemory("tasks: no room for an array of " + std::to_string(bytes) + " bytes");
    }
    data_.begin = (pages().end - bytes) & -alignment;
    data_.end = data_.begin + bytes;
}

Guarded::Guarded(Guarded &&other) noexcept : all_(std::exchange(other.all_, {})), data_(other.data_) {}

Guarded::~Guarded()
{
    if (all_.size())
        munmap(all_.data(), all_.size());
}

} // namespace ptsched::tasks
