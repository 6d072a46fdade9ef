/* SPDX-License-Identifier: MIT */
/* A device's memory: what is kept for later, and what can make room. */
#ifndef PTSCHED_DEVICE_MEMORY_HPP
#define PTSCHED_DEVICE_MEMORY_HPP

#include "libptsched/device/pool.hpp"
#include <ptsched/device/residents.hpp>

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
            throw OutOfMemory(device_.name() + " has no memory for " + std::to_string(bytes) +
                              " bytes besides what is in use");
        }
    }
    void give(Address address, std::size_t bytes) noexcept { pool_.give(address, bytes); }
    void limit(std::size_t bytes) { pool_.limit(bytes); }
    Residents &residents() { return residents_; }

private:
    Device &device_;
    Pool pool_;
    Residents residents_;
};

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_MEMORY_HPP */
