/* SPDX-License-Identifier: MIT */
/* A window whose GPU's memory is memory like any other, at other addresses, and a GPU that works on it at once. */
#ifndef TEST_ARENA_COHERENCE_FAKE_HPP
#define TEST_ARENA_COHERENCE_FAKE_HPP

#include "libptsched/arena/coherence/coherence.hpp"
#include "libptsched/arena/coherence/gpu_side.hpp"
#include <ptsched/device/allocation.hpp>

#include <vector>

namespace test {

namespace arena = ptsched::arena;
namespace device = ptsched::device;

using arena::page_bytes;

class FakeMemories : public arena::Memories {
public:
    /* @gpu null: nobody but a FakeGpuSide works on it. */
    explicit FakeMemories(std::size_t pages, device::Device *gpu = nullptr);
    ~FakeMemories() override;
    std::byte *view() override { return view_; }
    std::byte *alias() override { return alias_; }
    std::size_t bytes() const override { return bytes_; }
    bool made(std::size_t, std::size_t) const noexcept override { return true; }
    unsigned gpus() const override { return 1; }
    device::Device &gpu(unsigned) override { return *gpu_; }
    device::Address on_gpu(std::size_t offset) override { return reinterpret_cast<std::uintptr_t>(on_gpu_) + offset; }
    void protect(std::size_t offset, std::size_t bytes, arena::Rights rights) noexcept override;

    /* Words: as a thread of the host finds them, and as a kernel does. */
    volatile std::uint32_t &host(std::size_t offset) { return at(view_, offset); }
    volatile std::uint32_t &kernel(std::size_t offset) { return at(on_gpu_, offset); }
    volatile std::uint32_t &home(std::size_t offset) { return at(alias_, offset); }
    unsigned protects = 0;

private:
    static volatile std::uint32_t &at(std::byte *begin, std::size_t offset)
    {
        return *reinterpret_cast<volatile std::uint32_t *>(begin + offset);
    }

    const std::size_t bytes_;
    device::Device *gpu_;
    std::byte *view_, *alias_, *on_gpu_;
    device::Allocation gpu_memory_, registered_;
    std::vector<std::byte> plain_;
};

/* What kernels and copies do, without them. Counts what it is asked for. */
class FakeGpuSide : public arena::GpuSide {
public:
    struct Counts {
        unsigned fills = 0, brings = 0, fetches = 0, sends = 0, adopts = 0, compares = 0, finishes = 0;
        unsigned filled_pages = 0, brought_pages = 0, fetched_pages = 0, sent_pages = 0, compared_pages = 0;
    };

    explicit FakeGpuSide(FakeMemories &memories) : memories_(memories) {}
    device::Address make_twin(std::size_t bytes) override;
    void release_twin(device::Address twin, std::size_t bytes) noexcept override;
    std::unique_ptr<arena::GpuWork> begin() override;

    Counts counts{};
    bool has_room = true; /* for twins */
    bool fails = false;
    std::size_t twin_bytes = 0;

private:
    class Work;

    FakeMemories &memories_;
};

} // namespace test

#endif /* TEST_ARENA_COHERENCE_FAKE_HPP */
