/* SPDX-License-Identifier: MIT */
/* Memory of CUDA's driver, for what takes it from a std::pmr::memory_resource. Needs a context. Errors are Error. */
#ifndef SAMPLES_ARENA_COMMON_RESOURCES_HPP
#define SAMPLES_ARENA_COMMON_RESOURCES_HPP

#include "samples/common/driver.hpp"

#include <memory>
#include <memory_resource>
#include <span>

namespace ptsched::samples {

/* Page-locked memory of the host. */
class PinnedResource : public std::pmr::memory_resource {
    void *do_allocate(std::size_t bytes, std::size_t) override
    {
        void *pointer = nullptr;
        driver::check(cuMemHostAlloc(&pointer, bytes, 0));
        return pointer;
    }
    void do_deallocate(void *pointer, std::size_t, std::size_t) override { cuMemFreeHost(pointer); }
    bool do_is_equal(const memory_resource &other) const noexcept override { return this == &other; }
};

/* At the same address on both sides, and moved by the driver when it is touched. */
class ManagedResource : public std::pmr::memory_resource {
    void *do_allocate(std::size_t bytes, std::size_t) override
    {
        CUdeviceptr pointer = 0;
        driver::check(cuMemAllocManaged(&pointer, bytes, CU_MEM_ATTACH_GLOBAL));
        return reinterpret_cast<void *>(pointer);
    }
    void do_deallocate(void *pointer, std::size_t, std::size_t) override { cuMemFree_v2(driver::address(pointer)); }
    bool do_is_equal(const memory_resource &other) const noexcept override { return this == &other; }
};

/* A block of so many bytes, of which nothing comes back before all does; more blocks are taken when it is full. */
template <typename Upstream> struct BlockUpstream {
    Upstream upstream;
};
template <typename Upstream> class Block : private BlockUpstream<Upstream>, public std::pmr::monotonic_buffer_resource {
public:
    explicit Block(std::size_t bytes) : monotonic_buffer_resource(bytes, &this->upstream) {}
};
using PinnedMemory = Block<PinnedResource>;
using ManagedMemory = Block<ManagedResource>;

constexpr std::size_t page = 4096;

/* Begins on a page of its own, so that what else is in the same memory stays where it is. */
template <typename T> std::span<T> array_of(std::pmr::memory_resource &memory, std::size_t count)
{
    T *const first = static_cast<T *>(memory.allocate(count * sizeof(T), page));
    std::uninitialized_value_construct_n(first, count);
    return {first, count};
}

} // namespace ptsched::samples

#endif /* SAMPLES_ARENA_COMMON_RESOURCES_HPP */
