// SPDX-License-Identifier: MIT
#include "libptsched/tasks/gpu/distribution.hpp"

#include <algorithm>

namespace ptsched::tasks {

namespace {

/* Tasks that a device has, as long as there are others to be done, but for urgent ones. */
constexpr std::size_t enough = 16;
/* Of tasks that would cost others less: so many are passed over, and one is good enough that costs hardly more. */
constexpr unsigned most_passed = 16;
constexpr double hardly_more = 1.25, hardly_anything = 20e-6;

/* Something that the task writes is there alone, and another device would wait for what is done with it there. */
const Way *owner(const std::vector<Way> &ways)
{
    const auto found = std::find_if(ways.begin(), ways.end(), [](const Way &way) { return way.owns; });
    return found == ways.end() ? nullptr : &*found;
}

} // namespace

/* Who is idle may have one that belongs to another device which has enough. */
Task *Distribution::take(std::size_t device, std::span<const std::size_t> loads)
{
    Task *best = nullptr;
    double best_cost = 0;
    unsigned passed = 0;
    for (Task *task : waiting_) {
        if (loads[device] >= enough && task->attributes.priority <= 0)
            break;
        const std::vector<Way> ways = directory_.ways(*task);
        const double cost = ways[device].copies, least = least_copies(ways);
        const Way *const other = ways[device].owns ? nullptr : owner(ways);
        if (!other && cost <= hardly_more * least + hardly_anything) {
            best = task;
            break;
        }
        const bool may_have = !other || loads[static_cast<std::size_t>(other - ways.data())] >= enough;
        if (loads[device] == 0 && may_have && (!best || cost - least < best_cost)) {
            best = task;
            best_cost = cost - least;
        }
        if (++passed == most_passed)
            break;
    }
    if (!best)
        return nullptr;
    waiting_.erase(best);
    directory_.expect(*best, static_cast<unsigned>(device));
    return best;
}

} // namespace ptsched::tasks
