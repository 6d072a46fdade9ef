// SPDX-License-Identifier: MIT
#include "libptsched/device/residents.hpp"

#include "libptsched/base/lock.hpp"

#include <algorithm>

namespace ptsched::device {

void Gate::enter_later()
{
    leave();
    Lock lock(mutex_);
    changed_.wait(lock, [this] { return !closed_; });
    inside_.fetch_add(1);
}

void Gate::wake()
{
    {
        Guard lock(mutex_);
    }
    changed_.notify_all();
}

void Gate::close()
{
    Lock lock(mutex_);
    changed_.wait(lock, [this] { return !closed_; });
    closed_ = true;
    changed_.wait(lock, [this] { return !inside_; });
}

void Gate::open()
{
    {
        Guard lock(mutex_);
        closed_ = false;
    }
    changed_.notify_all();
}

void ResidentsImpl::add(Resident &resident)
{
    Guard lock(mutex_);
    resident.older = newest_;
    if (newest_)
        newest_->newer = &resident;
    newest_ = &resident;
}

void ResidentsImpl::remove(Resident &resident)
{
    Guard lock(mutex_);
    if (resident.older)
        resident.older->newer = resident.newer;
    if (resident.newer)
        resident.newer->older = resident.older;
    else
        newest_ = resident.older;
    resident.older = resident.newer = nullptr;
}

std::vector<std::weak_ptr<Datablock>> ResidentsImpl::oldest_first()
{
    std::vector<std::pair<std::uint64_t, std::weak_ptr<Datablock>>> found;
    std::vector<std::weak_ptr<Datablock>> blocks;
    const std::weak_ptr<Datablock> nobody; /* owns a block that is not on the heap */
    {
        /* Who is in the list is not gone: going begins with leaving the list. */
        Guard lock(mutex_);
        for (Resident *resident = newest_; resident; resident = resident->older)
            if (auto block = resident->owner.weak_from_this(); block.owner_before(nobody) || nobody.owner_before(block))
                found.emplace_back(resident->last_used.load(std::memory_order_relaxed), std::move(block));
    }
    std::sort(found.begin(), found.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
    blocks.reserve(found.size());
    for (auto &[time, block] : found)
        blocks.push_back(std::move(block));
    return blocks;
}

bool have_one_memory(const Device &one, const Device &other)
{
    return &home_of(one) == &home_of(other);
}

std::shared_ptr<Residents> Residents::make(Device &device)
{
    return std::make_shared<ResidentsImpl>(device);
}

} // namespace ptsched::device
