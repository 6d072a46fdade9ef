// SPDX-License-Identifier: MIT
/*
 * Equal slices in turn, as hardware gives them to its contexts; weights have no say. A task that wakes up goes to the
 * end of the queue.
 */
#include "tools/ptsim/schedulers/all.hpp"
#include "tools/ptsim/schedulers/quantum.hpp"

#include <list>
#include <unordered_map>

namespace ptsim {
namespace {

class RoundRobin : public QuantumScheduler {
public:
    using QuantumScheduler::QuantumScheduler;

private:
    void insert(const Task &task, bool) override { places_[task.id] = queue_.insert(queue_.end(), &task); }

    void remove(const Task &task) override
    {
        const auto place = places_.find(task.id);
        queue_.erase(place->second);
        places_.erase(place);
    }

    const Task *extract() override
    {
        if (queue_.empty())
            return nullptr;
        const Task *first = queue_.front();
        remove(*first);
        return first;
    }

    std::list<const Task *> queue_;
    std::unordered_map<std::uint32_t, std::list<const Task *>::iterator> places_;
};

} // namespace

std::unique_ptr<Scheduler> make_round_robin(const Machine &machine, std::uint64_t)
{
    return std::make_unique<RoundRobin>(machine);
}

} // namespace ptsim
