// SPDX-License-Identifier: MIT
#include "libptsched/device/pool.hpp"

#include <algorithm>

namespace ptsched::device {

Pool::Pool(Allocate allocate, Free free) : allocate_(std::move(allocate)), free_(std::move(free))
{
    become_known();
}

Pool::~Pool()
{
    leave();
    trim();
}

Pool::Use Pool::use()
{
    Guard lock(mutex_);
    return {taken_, kept_bytes_};
}

Address Pool::take_from(Class &kept)
{
    const Address address = kept.addresses.back();
    kept.addresses.pop_back();
    kept.used = clock_;
    kept_bytes_ -= kept.size;
    return address;
}

/* One of this size, or of one that is hardly larger; zero if there is none. */
Address Pool::find(std::size_t size)
{
    const std::size_t own = class_of(size);
    if (Class &kept = kept_[own]; !kept.addresses.empty())
        return take_from(kept);
    if (!kept_bytes_)
        return 0;
    for (std::size_t i = own + 1; i < std::min(own + 1 + next_classes, classes); i++)
        if (Class &kept = kept_[i]; !kept.addresses.empty()) {
            larger_.emplace(kept.addresses.back(), kept.size);
            return take_from(kept);
        }
    return 0;
}

Address Pool::take(std::size_t bytes)
{
    if (bytes > most_bytes)
        return 0;
    const std::size_t size = rounded(bytes);
    {
        Guard lock(mutex_);
        clock_++;
        const Address address = find(size);
        most_used_.add(taken_ - kept_bytes_ + (address ? 0 : size));
        if (address)
            return address;
    }
    make_room(size);
    if (Address address = allocate(size))
        return address;
    trim();
    return allocate(size);
}

void Pool::give(Address address, std::size_t bytes) noexcept
{
    std::size_t size = rounded(bytes);
    try {
        Guard lock(mutex_);
        if (!larger_.empty())
            if (auto known = larger_.find(address); known != larger_.end()) {
                size = known->second;
                larger_.erase(known);
            }
        Class &kept = kept_[class_of(size)];
        kept.addresses.push_back(address);
        kept.size = size;
        kept.used = clock_;
        kept_bytes_ += size;
        return;
    } catch (const std::bad_alloc &) {
    }
    free_(address);
    Guard lock(mutex_);
    taken_ -= size;
}

void Pool::limit(std::size_t bytes)
{
    {
        Guard lock(mutex_);
        limit_ = bytes;
    }
    trim();
}

/* Null if nothing is kept. */
Pool::Class *Pool::oldest()
{
    Class *found = nullptr;
    for (Class &kept : kept_)
        if (!kept.addresses.empty() && (!found || kept.used < found->used))
            found = &kept;
    return found;
}

void Pool::move_one(Class &kept, Freed &freed)
{
    freed.addresses.push_back(kept.addresses.back());
    kept.addresses.pop_back();
    freed.bytes += kept.size;
    kept_bytes_ -= kept.size;
}

/* For one that the driver is asked for: of what is kept, that which would be too much then goes. */
void Pool::make_room(std::size_t size)
{
    Freed freed;
    {
        Guard lock(mutex_);
        const std::size_t most = 2 * most_used_.value() + always_kept;
        while (taken_ - freed.bytes + size > most)
            if (Class *kept = oldest())
                move_one(*kept, freed);
            else
                break;
    }
    give_back(freed);
}

void Pool::give_back(Freed &freed)
{
    if (freed.addresses.empty())
        return;
    Guard draining(drain_mutex_);
    free_all(freed);
}

std::size_t Pool::trim_to(std::size_t keep)
{
    Freed freed;
    {
        Guard lock(mutex_);
        while (kept_bytes_ > keep)
            move_one(*oldest(), freed);
    }
    give_back(freed);
    return freed.bytes;
}

void Pool::free_all(const Freed &freed)
{
    for (Address address : freed.addresses)
        free_(address);
    Guard lock(mutex_);
    taken_ -= freed.bytes;
}

/* False if there would be too much. */
bool Pool::count(std::size_t size)
{
    Guard lock(mutex_);
    if (size > limit_ || taken_ > limit_ - size)
        return false;
    taken_ += size;
    return true;
}

void Pool::give_beside(std::size_t bytes) noexcept
{
    Guard lock(mutex_);
    taken_ -= bytes;
}

bool Pool::make_beside(std::size_t bytes, const std::function<bool()> &make)
{
    if (!count(bytes))
        return false;
    bool made = false;
    try {
        made = make();
    } catch (...) {
        give_beside(bytes);
        throw;
    }
    if (!made)
        give_beside(bytes);
    return made;
}

Address Pool::allocate(std::size_t size)
{
    Address address = 0;
    make_beside(size, [&] { return (address = allocate_(size)) != 0; });
    return address;
}

std::size_t Pool::trim()
{
    Guard draining(drain_mutex_);
    Freed freed;
    {
        Guard lock(mutex_);
        for (Class &kept : kept_) {
            freed.addresses.insert(freed.addresses.end(), kept.addresses.begin(), kept.addresses.end());
            freed.bytes += kept.size * kept.addresses.size();
            kept.addresses = {};
        }
        kept_bytes_ = 0;
    }
    free_all(freed);
    return freed.bytes;
}

} // namespace ptsched::device
