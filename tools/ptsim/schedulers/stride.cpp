// SPDX-License-Identifier: MIT
/*
 * Stride scheduling (Waldspurger and Weihl, MIT/LCS/TM-528, 1995): the quantum goes to the smallest pass, which
 * advances by what was used over the weight. The global pass advances by the same over the weight of all; a task that
 * goes away keeps its distance from it, and has it again when it comes back. A newcomer begins one stride behind it.
 */
#include "tools/ptsim/schedulers/all.hpp"
#include "tools/ptsim/schedulers/quantum.hpp"

#include <set>

namespace ptsim {
namespace {

class Stride : public QuantumScheduler {
public:
    using QuantumScheduler::QuantumScheduler;

    void join(const Task &task, Ns) override
    {
        if (task.id >= passes_.size())
            passes_.resize(task.id + 1);
        /* While it sleeps, this is the distance. */
        passes_[task.id] = static_cast<double>(machine_.slice_ns) / task.weight;
    }

    void wake(const Task &task, Ns now) override
    {
        passes_[task.id] += global_pass_;
        weight_ += task.weight;
        QuantumScheduler::wake(task, now);
    }

    void sleep(const Task &task, Ns now) override
    {
        QuantumScheduler::sleep(task, now);
        passes_[task.id] -= global_pass_;
        weight_ -= task.weight;
    }

private:
    void insert(const Task &task, bool) override { queue_.insert({passes_[task.id], task.id, &task}); }
    void remove(const Task &task) override { queue_.erase({passes_[task.id], task.id, &task}); }

    const Task *extract() override { return queue_.empty() ? nullptr : queue_.extract(queue_.begin()).value().task; }

    void charge(const Task &task, Ns ns) override
    {
        passes_[task.id] += static_cast<double>(ns) / task.weight;
        global_pass_ += static_cast<double>(ns) / static_cast<double>(weight_);
    }

    struct Place {
        double pass;
        std::uint32_t id;
        const Task *task;
        auto operator<=>(const Place &other) const = default;
    };

    std::set<Place> queue_;
    std::vector<double> passes_;
    double global_pass_ = 0;
    std::uint64_t weight_ = 0;
};

} // namespace

std::unique_ptr<Scheduler> make_stride(const Machine &machine, std::uint64_t)
{
    return std::make_unique<Stride>(machine);
}

} // namespace ptsim
