/* SPDX-License-Identifier: MIT */
/* Copies between memory of any kind and a GPU's, in the order of a queue. */
#ifndef PTSCHED_SPMD_GPU_BUS_HPP
#define PTSCHED_SPMD_GPU_BUS_HPP

#include <ptsched/device/allocation.hpp>

#include <array>

namespace ptsched::spmd {

/* Whether a GPU copies from there without a detour: page-locked memory, whoever has made it. */
bool is_pinned(const void *memory);

/*
 * What is not page-locked goes through two chunks that are: one is filled, or emptied, while the other is copied. One
 * thread at a time.
 */
class Bus {
public:
    static constexpr std::size_t chunk_bytes = std::size_t{4} << 20;

    explicit Bus(device::Queue &queue) : queue_(queue) {}
    /* Waits for copies that use its chunks. */
    ~Bus();
    Bus(const Bus &) = delete;
    Bus &operator=(const Bus &) = delete;

    /* @from stays until the queue has done it. Waits for chunks, if there are some in the way. */
    void upload(device::Address to, const std::byte *from, std::size_t bytes);
    /* Returns when it is there, and so is all that the queue had before. */
    void download(std::byte *to, device::Address from, std::size_t bytes);

private:
    struct Chunk {
        device::Allocation memory;
        device::MarkerPtr used; /* until then; null: nothing uses it */
    };

    Chunk &chunk(std::size_t number);
    static void wait(Chunk &chunk);

    device::Queue &queue_;
    std::array<Chunk, 2> chunks_;
};

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_GPU_BUS_HPP */
