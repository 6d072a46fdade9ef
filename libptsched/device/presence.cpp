// SPDX-License-Identifier: MIT
#include "libptsched/device/presence.hpp"

#include <map>
#include <utility>

namespace ptsched::device {

std::shared_ptr<Presence> Presence::of(const std::string &device, pid_t requester)
{
    using Key = std::pair<std::string, pid_t>;
    static Mutex &mutex = *new Mutex;
    static auto &all PTSCHED_GUARDED_BY(mutex) = *new std::map<Key, std::weak_ptr<Presence>>;
    const Guard guard(mutex);
    std::erase_if(all, [](const auto &entry) { return entry.second.expired(); });
    std::weak_ptr<Presence> &known = all[{device, requester}];
    std::shared_ptr<Presence> found = known.lock();
    if (!found)
        known = found = std::make_shared<Presence>();
    return found;
}

void Presence::has_turn(std::uint64_t asked, std::uint64_t now, std::uint64_t usual)
{
    if (holders_.fetch_add(1) == 0)
        linger_.came_back(asked, now, usual);
}

/* Who is called back would have stayed. */
void Presence::has_no_turn(bool called)
{
    if (holders_.fetch_sub(1) == 1)
        linger_.left(called ? 0 : last_end());
}

void Presence::ended(std::uint64_t now)
{
    std::uint64_t before = last_end();
    while (before < now && !last_end_.compare_exchange_weak(before, now, std::memory_order_relaxed))
        ;
}

} // namespace ptsched::device
