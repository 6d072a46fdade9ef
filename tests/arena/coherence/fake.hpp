/* SPDX-License-Identifier: MIT */
/* A window whose GPU's memory is memory like any other, at other addresses, and a GPU that works on it at once. */
#ifndef TEST_ARENA_COHERENCE_FAKE_HPP
#define TEST_ARENA_COHERENCE_FAKE_HPP

#include "libptsched/arena/coherence/coherence.hpp"
#include "libptsched/arena/coherence/gpu_side.hpp"
#include "tests/arena/coherence/two_memories.hpp"

#include <atomic>
#include <mutex>
#include <vector>

namespace test {

class FakeMemories : public TwoMemories {
public:
    /* @gpu null: nobody but a FakeGpuSide works on it. */
    explicit FakeMemories(std::size_t pages, device::Device *gpu = nullptr);
    device::Address on_gpu(std::size_t offset) override { return reinterpret_cast<std::uintptr_t>(on_gpu_) + offset; }
    void protect(std::size_t offset, std::size_t bytes, arena::Rights rights) noexcept override
    {
        protects++;
        TwoMemories::protect(offset, bytes, rights);
    }

    /* Words: as a thread of the host finds them, and as a kernel does. */
    volatile std::uint32_t &host(std::size_t offset) { return at(view(), offset); }
    volatile std::uint32_t &kernel(std::size_t offset) { return at(on_gpu_, offset); }
    volatile std::uint32_t &home(std::size_t offset) { return at(alias(), offset); }
    std::atomic<unsigned> protects{0};

private:
    static volatile std::uint32_t &at(std::byte *begin, std::size_t offset)
    {
        return *reinterpret_cast<volatile std::uint32_t *>(begin + offset);
    }

    std::vector<std::byte> plain_;
    std::byte *on_gpu_;
};

/* That several threads count in. */
class Count {
public:
    Count() = default;
    Count(const Count &other) : value_(other) {}
    operator unsigned() const { return value_.load(); }
    void operator++(int) { value_++; }
    void operator+=(unsigned more) { value_ += more; }

private:
    std::atomic<unsigned> value_{0};
};

/* What kernels and copies do, without them. Counts what it is asked for. */
class FakeGpuSide : public arena::GpuSide {
public:
    struct Counts {
        Count fills, brings, fetches, sends, adopts, compares, finishes;
        Count filled_pages, brought_pages, fetched_pages, sent_pages, compared_pages;
    };

    explicit FakeGpuSide(FakeMemories &memories) : memories_(memories) {}
    device::Address make_twin(std::size_t bytes) override;
    void release_twin(device::Address twin, std::size_t bytes) noexcept override;
    std::unique_ptr<arena::GpuWork> begin() override;

    Counts counts{};
    bool has_room = true; /* for twins */
    std::atomic<bool> fails{false};
    /* As long as it does, no work ends. */
    std::atomic<bool> holds{false};
    void let_end()
    {
        holds = false;
        holds.notify_all();
    }
    /* That were fetched so far, in order. */
    std::vector<arena::PageRun> fetched() const
    {
        const std::lock_guard guard(mutex_);
        return fetched_;
    }
    std::size_t twin_bytes = 0;

private:
    class Work;

    FakeMemories &memories_;
    mutable std::mutex mutex_;
    std::vector<arena::PageRun> fetched_;
};

} // namespace test

#endif /* TEST_ARENA_COHERENCE_FAKE_HPP */
