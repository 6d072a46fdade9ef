/* SPDX-License-Identifier: MIT */
/*
 * Addresses of GPUs that get memory by and by. The host has nothing there until it maps something itself, over the
 * range (MAP_FIXED), where the GPUs have memory already: each side then finds its own memory at the same address.
 */
#ifndef PTSCHED_DEVICE_ADDRESSES_HPP
#define PTSCHED_DEVICE_ADDRESSES_HPP

#include <ptsched/device/device.hpp>

#include <memory>
#include <span>

#pragma GCC visibility push(default)

namespace ptsched::device {

class Addresses {
public:
    /*
     * So many, at least, for all of @gpus, of which the first has the memory. Throws Error if one is no GPU of CUDA,
     * does not reach the first one's memory, or the driver has no virtual memory management; OutOfMemory if there are
     * not as many addresses. Does not wait.
     */
    static std::unique_ptr<Addresses> reserve(std::span<Device *const> gpus, std::size_t bytes);
    /* No work uses the memory any more. What the host has mapped there is gone as well. */
    virtual ~Addresses() = default;
    Addresses(const Addresses &) = delete;
    Addresses &operator=(const Addresses &) = delete;

    virtual Address begin() const = 0;
    virtual std::size_t bytes() const = 0;
    /* What memory comes in multiples of. */
    virtual std::size_t unit() const = 0;
    /*
     * Memory for that range, which has none, in whole units; its content is not defined. Datablocks that nobody uses
     * make room; throws OutOfMemory if that is not enough, and nothing has changed then. One thread at a time.
     */
    virtual void make(std::size_t offset, std::size_t bytes) = 0;

protected:
    Addresses() = default;
};

} // namespace ptsched::device

#pragma GCC visibility pop

#endif /* PTSCHED_DEVICE_ADDRESSES_HPP */
