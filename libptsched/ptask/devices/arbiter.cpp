// SPDX-License-Identifier: MIT
#include "libptsched/ptask/devices/arbiter.hpp"

#include "libptsched/ptask/graph/channel.hpp"
#include "libptsched/ptask/graph/sets.hpp"

#include <algorithm>

namespace ptsched::ptask {

namespace {

/* No run counts less, so that one whose time nobody knows yet counts. */
constexpr double shortest_run = 1e-6;
/* What a part may catch up with that had nothing to run for a while. */
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
    parts_.push_back({{mode, weights}});
}

void Arbiter::divide(const std::vector<std::unique_ptr<TaskImpl>> &tasks)
{
    if (mode_ != Mode::priority && mode_ != Mode::data_aware)
        return;
    Sets sets(tasks.size());
    for (std::size_t i = 0; i < tasks.size(); i++)
        tasks[i]->part_ = i;
    for (const auto &task : tasks)
        for (const auto &port : task->ports_)
            for (const Channel *channel : port->to_)
                if (channel->destination)
                    sets.join(task->part_, channel->destination->task_.part_);
    std::size_t parts = 0;
    for (std::size_t i = 0; i < tasks.size(); i++) {
        std::size_t first = sets.first_of(i);
        tasks[i]->part_ = first == i ? parts++ : tasks[first]->part_;
    }
    while (parts_.size() < parts)
        parts_.push_back({{mode_, weights_}});
}

void Arbiter::add(TaskImpl &task, double priority, double average_run, Clock::time_point now)
{
    Part &part = parts_[task.part_];
    const bool first = part.ready.empty();

    part.ready.add(task, priority, average_run, now);
    if (one_part())
        return;
    task.charge_ = charge(average_run, priority);
    if (first) {
        part.clock = std::max(part.clock, clock_ - runs_to_catch_up * task.charge_);
        heap_.push({part.clock, weight_of(priority), number_++, task.part_});
    }
}

TaskImpl &Arbiter::pop(Clock::time_point now)
{
    if (one_part())
        return parts_[0].ready.pop(now);
    const Entry entry = heap_.top();
    heap_.pop();
    Part &part = parts_[entry.part];
    TaskImpl &task = part.ready.pop(now);
    clock_ = std::max(clock_, entry.start);
    part.clock = entry.start + task.charge_;
    if (!part.ready.empty())
        heap_.push({part.clock, entry.weight, number_++, entry.part});
    return task;
}

} // namespace ptsched::ptask
