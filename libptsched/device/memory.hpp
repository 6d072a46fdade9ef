/* SPDX-License-Identifier: MIT */
/* A device's memory: what is kept for later, and what can make room. */
#ifndef PTSCHED_DEVICE_MEMORY_HPP
#define PTSCHED_DEVICE_MEMORY_HPP

#include "libptsched/device/pool.hpp"
#include "libptsched/device/residents.hpp"

namespace ptsched::device {

class Memory {
public:
    Memory(Device &device, Pool::Allocate allocate, Pool::Free free)
        : device_(device), pool_(std::move(allocate), std::move(free)), residents_(device)
    {
    }

    Address take(std::size_t bytes)
    {
        for (;;) {
            if (Address address = pool_.take(bytes))
                return address;
            if (residents_.make_room(bytes))
                continue;
            /* Others may have let go of some, and left nothing to be evicted. */
            if (Address address = pool_.take(bytes))
                return address;
            throw no_memory(bytes);
        }
    }
    void give(Address address, std::size_t bytes) noexcept { pool_.give(address, bytes); }
    /* Memory that is not the pool's, but counts with it: @make is called until it says that there was as much. */
    template <typename Make> void take_beside(std::size_t bytes, Make make)
    {
        for (;;) {
            if (pool_.make_beside(bytes, make) || (pool_.trim() && pool_.make_beside(bytes, make)))
                return;
            if (!residents_.make_room(bytes))
                throw no_memory(bytes);
        }
    }
    void give_beside(std::size_t bytes) noexcept { pool_.give_beside(bytes); }
    std::size_t trim(std::size_t keep) { return pool_.trim_to(keep); }
    void limit(std::size_t bytes) { pool_.limit(bytes); }
    ResidentsImpl &residents() { return residents_; }

private:
    OutOfMemory no_memory(std::size_t bytes) const
    {
        return OutOfMemory(device_.name() + " has no memory for " + std::to_string(bytes) +
                           " bytes besides what is in use");
    }

    Device &device_;
    Pool pool_;
    ResidentsImpl residents_;
};

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_MEMORY_HPP */
