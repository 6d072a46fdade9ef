/* SPDX-License-Identifier: MIT */
/* What is behind a window's addresses: two memories at each, or one that the driver moves, or the host's alone. */
#ifndef PTSCHED_ARENA_WINDOW_GROUND_HPP
#define PTSCHED_ARENA_WINDOW_GROUND_HPP

#include "libptsched/arena/window/memory.hpp"

#include <memory>
#include <vector>

namespace ptsched::arena {

/* One thread at a time makes memory; any may ask. */
class Ground {
public:
    virtual ~Ground() = default;
    Ground(const Ground &) = delete;
    Ground &operator=(const Ground &) = delete;

    virtual std::byte *begin() = 0;
    virtual std::size_t bytes() const = 0;
    /* What memory comes in multiples of: a multiple of page_bytes. */
    virtual std::size_t unit() const = 0;
    /* Memory for that range, which has none, in whole units; zeros on the host. OutOfMemory if there is not as much. */
    virtual void make(std::size_t offset, std::size_t bytes) = 0;
    /* Zeros on the host again. */
    virtual void clear(std::size_t offset, std::size_t bytes) = 0;
    /* Null: there is one memory, and nothing to be kept coherent. */
    virtual Memories *memories() { return nullptr; }
    /* Only @user is going to use that: a GPU, or the host. Returns when it is there. */
    virtual void move(std::size_t, std::size_t, device::Device & /* user */) {}

protected:
    Ground() = default;
};

/* Throw Error if the devices or their driver cannot have it so, OutOfMemory if there is not as much. */
std::unique_ptr<Ground> make_two_memories(std::vector<device::Device *> gpus, std::size_t bytes);
std::unique_ptr<Ground> make_managed(const std::vector<device::Device *> &gpus, std::size_t bytes);
std::unique_ptr<Ground> make_host_alone(std::size_t bytes);

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_WINDOW_GROUND_HPP */
