/* SPDX-License-Identifier: MIT */
/*
 * The tasks that could run, in their order. An effective priority grows with the time that its task waits, for all at
 * the same pace: so the difference of two does not change, and each is computed once.
 */
#ifndef PTSCHED_PTASK_DEVICES_READY_HPP
#define PTSCHED_PTASK_DEVICES_READY_HPP

#include "libptsched/ptask/graph/task.hpp"
#include "libptsched/ptask/time/now.hpp"

#include <queue>

namespace ptsched::ptask {

using Seconds = std::chrono::duration<double>;

class Ready {
public:
    Ready(Mode mode, const PriorityWeights &weights) : mode_(mode), weights_(weights) {}

    bool empty() const { return heap_.empty(); }
    void add(TaskImpl &task, double priority, double average_run, Clock::time_point now);
    TaskImpl &pop(Clock::time_point now);
    void ran(double seconds) { run_.add(seconds); }

private:
    struct Entry {
        double rank;
        std::uint64_t number;
        Clock::time_point since;
        TaskImpl *task;
        bool operator<(const Entry &other) const
        {
            return rank != other.rank ? rank < other.rank : number > other.number;
        }
    };

    void advance(Clock::time_point now);

    Mode mode_;
    PriorityWeights weights_;
    std::priority_queue<Entry> heap_;
    std::uint64_t number_ = 0;
    /* Time in average waits: at what pace it goes changes with them. */
    double waits_ = 0;
    Clock::time_point at_ = Clock::now();
    Average wait_, run_;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_DEVICES_READY_HPP */
