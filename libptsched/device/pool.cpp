// SPDX-License-Identifier: MIT
#include "pool.hpp"

namespace ptsched::device {

/* The lock is held. */
Pool::Kept &Pool::kept(std::size_t size)
{
    if (size != last_size_) {
        last_ = &kept_[size];
        last_size_ = size;
    }
    return *last_;
}

Address Pool::take(std::size_t bytes)
{
    std::size_t size = rounded(bytes);
    {
        std::lock_guard lock(mutex_);
        if (Kept &addresses = kept(size); !addresses.empty()) {
            Address address = addresses.back();
            addresses.pop_back();
            return address;
        }
    }
    if (Address address = allocate(size))
        return address;
    drain();
    return allocate(size);
}

void Pool::give(Address address, std::size_t bytes) noexcept
{
    std::size_t size = rounded(bytes);
    try {
        std::lock_guard lock(mutex_);
        kept(size).push_back(address);
        return;
    } catch (const std::bad_alloc &) {
    }
    free_(address);
    std::lock_guard lock(mutex_);
    taken_ -= size;
}

void Pool::limit(std::size_t bytes)
{
    {
        std::lock_guard lock(mutex_);
        limit_ = bytes;
    }
    drain();
}

Address Pool::allocate(std::size_t size)
{
    auto count = [&](bool more) {
        std::lock_guard lock(mutex_);
        if (more && (size > limit_ || taken_ > limit_ - size))
            return false;
        taken_ = more ? taken_ + size : taken_ - size;
        return true;
    };
    if (!count(true))
        return 0;
    try {
        Address address = allocate_(size);
        if (!address)
            count(false);
        return address;
    } catch (...) {
        count(false);
        throw;
    }
}

void Pool::drain()
{
    std::lock_guard draining(drain_mutex_);
    std::unordered_map<std::size_t, Kept> drained;
    std::size_t freed = 0;
    {
        std::lock_guard lock(mutex_);
        drained.swap(kept_);
        last_size_ = 0;
    }
    for (const auto &[size, addresses] : drained) {
        for (Address address : addresses)
            free_(address);
        freed += size * addresses.size();
    }
    std::lock_guard lock(mutex_);
    taken_ -= freed;
}

} // namespace ptsched::device
