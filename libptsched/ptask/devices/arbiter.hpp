/* SPDX-License-Identifier: MIT */
/*
 * Whose task is next. Parts of a graph that no channel joins compete: each gets time in proportion to the priority of
 * its tasks, and what one does not use is the others'. Within a component the tasks have their order (Ready).
 *
 * Each component has a clock, which goes on by the time that its run takes over the run's weight; the component is next
 * whose clock shows least (start-time fair queueing).
 */
#ifndef PTSCHED_PTASK_DEVICES_ARBITER_HPP
#define PTSCHED_PTASK_DEVICES_ARBITER_HPP

#include "libptsched/ptask/devices/ready.hpp"

namespace ptsched::ptask {

/* From 1 on, a priority itself; below, less and less. */
double weight_of(double priority);

class Arbiter {
public:
    /* What a run counts. */
    static double charge(double seconds, double priority);
    Arbiter(Mode mode, const PriorityWeights &weights);

    /* Before the first comes. Another arbiter of the same tasks finds the same components. */
    void divide(const std::vector<std::unique_ptr<TaskImpl>> &tasks) PTASK_LOCKED;
    bool empty() const { return one_component() ? components_[0].ready.empty() : heap_.empty(); }
    void add(TaskImpl &task, double priority, double average_run, Clock::time_point now) PTASK_LOCKED;
    TaskImpl &pop(Clock::time_point now) PTASK_LOCKED;
    /* Where the task stands with those of its component. */
    Ready &of(const TaskImpl &task) PTASK_LOCKED { return components_[task.component_].ready; }

private:
    struct Component {
        Ready ready;
        double clock = 0; /* at the end of its last run; in seconds of weight 1 */
    };
    struct Entry {
        double start, weight;
        std::uint64_t number;
        std::size_t component;
        bool operator<(const Entry &other) const
        {
            if (start != other.start)
                return start > other.start;
            return weight != other.weight ? weight < other.weight : number > other.number;
        }
    };

    bool one_component() const { return components_.size() == 1; }

    const Mode mode_;
    const PriorityWeights weights_;
    std::vector<Component> components_;
    std::priority_queue<Entry> heap_; /* the components with tasks, if there are several components */
    std::uint64_t number_ = 0;
    double clock_ = 0; /* that of the last one taken */
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_DEVICES_ARBITER_HPP */
