// SPDX-License-Identifier: MIT
#include "libptsched/ptask/devices/arbiter.hpp"

#include "libptsched/ptask/graph/channel.hpp"
#include "libptsched/ptask/graph/sets.hpp"

#include <algorithm>

namespace ptsched::ptask {

namespace {

/* No run counts less, so that one whose time nobody knows yet counts. */
constexpr double shortest_run = 1e-6;
/* What a component may catch up with that had nothing to run for a while. */
constexpr double runs_to_catch_up = 16;

} // namespace

double weight_of(double priority)
{
    return priority >= 1 ? priority : 1 / (2 - priority);
}

double Arbiter::charge(double seconds, double priority)
{
    return std::max(seconds, shortest_run) / weight_of(priority);
}

Arbiter::Arbiter(Mode mode, const PriorityWeights &weights) : mode_(mode), weights_(weights)
{
    components_.push_back({{mode, weights}});
}

void Arbiter::divide(const std::vector<std::unique_ptr<TaskImpl>> &tasks)
{
    if (mode_ != Mode::priority && mode_ != Mode::data_aware)
        return;
    Sets sets(tasks.size());
    for (std::size_t i = 0; i < tasks.size(); i++)
        tasks[i]->component_ = i;
    for (const auto &task : tasks)
        for (const auto &port : task->ports_)
            for (const Channel *channel : port->to_)
                if (channel->destination)
                    sets.join(task->component_, channel->destination->task_.component_);
    std::size_t components = 0;
    for (std::size_t i = 0; i < tasks.size(); i++) {
        std::size_t first = sets.first_of(i);
        tasks[i]->component_ = first == i ? components++ : tasks[first]->component_;
    }
    while (components_.size() < components)
        components_.push_back({{mode_, weights_}});
}

void Arbiter::add(TaskImpl &task, double priority, double average_run, Clock::time_point now)
{
    Component &component = components_[task.component_];
    const bool first = component.ready.empty();

    component.ready.add(task, priority, average_run, now);
    if (one_component())
        return;
    task.charge_ = charge(average_run, priority);
    if (first) {
        component.clock = std::max(component.clock, clock_ - runs_to_catch_up * task.charge_);
        heap_.push({component.clock, weight_of(priority), number_++, task.component_});
    }
}

TaskImpl &Arbiter::pop(Clock::time_point now)
{
    if (one_component())
        return components_[0].ready.pop(now);
    const Entry entry = heap_.top();
    heap_.pop();
    Component &component = components_[entry.component];
    TaskImpl &task = component.ready.pop(now);
    clock_ = std::max(clock_, entry.start);
    component.clock = entry.start + task.charge_;
    if (!component.ready.empty())
        heap_.push({component.clock, entry.weight, number_++, entry.component});
    return task;
}

} // namespace ptsched::ptask
