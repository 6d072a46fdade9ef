/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_TASKS_GPU_READY_LIST_HPP
#define PTSCHED_TASKS_GPU_READY_LIST_HPP

#include "libptsched/tasks/task.hpp"

#include <queue>
#include <vector>

namespace ptsched::tasks {

/* Whether another one is given before it: one that is more urgent, or comes before it in the program. */
inline bool is_behind(const Task &task, const Task &other)
{
    const int priority = task.attributes.priority, of_other = other.attributes.priority;
    return priority != of_other ? priority < of_other : task.number > other.number;
}

/* When, as if each task took as long as any other: in tasks one after another. */
using Estimate = std::uint64_t;

/*
 * Ready tasks that are to be given to streams: urgent ones first, then in the order of the program, of those that can
 * begin by when a stream is free. Others would keep what comes behind them in the stream from beginning, and tasks by
 * the order in which they became ready would all be begun before the first row of them has ended.
 */
class ReadyList {
public:
    struct Item {
        Task *task;
        Estimate ready; /* when it can begin */
    };

    bool empty() const { return now_.empty() && later_.empty(); }
    std::size_t size() const { return now_.size() + later_.size(); }
    void push(const Item &item, Estimate now)
    {
        if (item.ready <= now || item.task->attributes.priority > 0)
            now_.push(item);
        else
            later_.push(item);
    }
    /* For a stream that is free then. There must be one. */
    const Item &next(Estimate free)
    {
        while (!later_.empty() && (now_.empty() || later_.top().ready <= free)) {
            now_.push(later_.top());
            later_.pop();
        }
        return now_.top();
    }
    /* That one goes. */
    void pop() { now_.pop(); }

private:
    struct IsBehind {
        bool operator()(const Item &one, const Item &other) const { return is_behind(*one.task, *other.task); }
    };
    struct IsLater {
        bool operator()(const Item &one, const Item &other) const
        {
            return one.ready != other.ready ? one.ready > other.ready : IsBehind()(one, other);
        }
    };

    std::priority_queue<Item, std::vector<Item>, IsBehind> now_;
    std::priority_queue<Item, std::vector<Item>, IsLater> later_;
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_GPU_READY_LIST_HPP */
