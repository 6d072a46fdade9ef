// SPDX-License-Identifier: MIT
#include "tests/arena/coherence/two_memories.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace test {

namespace {

std::byte *map_at(int file, std::size_t bytes, int protection)
{
    void *const made = mmap(nullptr, bytes, protection, MAP_SHARED, file, 0);
    if (made == MAP_FAILED)
        throw ptsched::Error("no memory for a window");
    return static_cast<std::byte *>(made);
}

} // namespace

TwoMemories::TwoMemories(std::size_t pages, device::Device *gpu) : bytes_(pages * page_bytes), gpu_(gpu)
{
    const int file = memfd_create("window", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes_)) < 0)
        throw ptsched::Error("no memory for a window");
    view_ = map_at(file, bytes_, PROT_NONE);
    alias_ = map_at(file, bytes_, PROT_READ | PROT_WRITE);
    close(file);
    if (gpu) {
        gpu_memory_ = device::Allocation::on_device(*gpu, bytes_);
        registered_ = device::Allocation::registered(alias_, bytes_);
    }
}

TwoMemories::~TwoMemories()
{
    registered_ = device::Allocation();
    munmap(view_, bytes_);
    munmap(alias_, bytes_);
}

void TwoMemories::protect(std::size_t offset, std::size_t bytes, arena::Rights rights) noexcept
{
    const int protection = rights == arena::Rights::write  ? PROT_READ | PROT_WRITE
                           : rights == arena::Rights::read ? PROT_READ
                                                           : PROT_NONE;
    if (mprotect(view_ + offset, bytes, protection) < 0)
        std::abort();
}

} // namespace test
