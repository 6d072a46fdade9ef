/* SPDX-License-Identifier: MIT */
/* A window's memories, of which the GPU's has other addresses than the host's: nobody finds pointers in it. */
#ifndef TEST_ARENA_COHERENCE_TWO_MEMORIES_HPP
#define TEST_ARENA_COHERENCE_TWO_MEMORIES_HPP

#include "libptsched/arena/window/memory.hpp"
#include <ptsched/device/allocation.hpp>

namespace test {

namespace arena = ptsched::arena;
namespace device = ptsched::device;

using arena::page_bytes;

class TwoMemories : public arena::Memories {
public:
    /* @gpu null: there is none, and no memory of it. */
    TwoMemories(std::size_t pages, device::Device *gpu);
    ~TwoMemories() override;
    TwoMemories(const TwoMemories &) = delete;
    TwoMemories &operator=(const TwoMemories &) = delete;
    std::byte *view() override { return view_; }
    std::byte *alias() override { return alias_; }
    std::size_t bytes() const override { return bytes_; }
    bool made(std::size_t, std::size_t) const noexcept override { return true; }
    unsigned gpus() const override { return 1; }
    device::Device &gpu(unsigned) override { return *gpu_; }
    device::Address on_gpu(std::size_t offset) override { return gpu_memory_.address() + offset; }
    void protect(std::size_t offset, std::size_t bytes, arena::Rights rights) noexcept override;

private:
    const std::size_t bytes_;
    device::Device *const gpu_;
    std::byte *view_, *alias_;
    device::Allocation gpu_memory_, registered_;
};

} // namespace test

#endif /* TEST_ARENA_COHERENCE_TWO_MEMORIES_HPP */
