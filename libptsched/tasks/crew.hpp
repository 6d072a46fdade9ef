/* SPDX-License-Identifier: MIT */
/*
 * Who finds ready tasks and runs them: workers, and threads that wait. It decides who looks, who sleeps and who is
 * woken; what a task is, it does not know.
 */
#ifndef PTSCHED_TASKS_CREW_HPP
#define PTSCHED_TASKS_CREW_HPP

#include "libptsched/base/sleepers.hpp"
#include "libptsched/tasks/lane.hpp"
#include "libptsched/tasks/seen/trace.hpp"

#include <deque>
#include <functional>
#include <queue>

namespace ptsched::tasks {

/* What the crew is there for. Thread-safe. */
class Duty {
public:
    virtual void run(Task &task) = 0;
    /*
     * Whether the calling thread may run it while it waits in a task, if it does: not what may wait for that one, which
     * goes on only when this has returned.
     */
    virtual bool may_run(const Task &task) const = 0;
    /* Looks after GPUs; whether there was something. */
    virtual bool serve() = 0;
    /* Whether that may have something to do. */
    virtual bool has_to_serve() const = 0;
    /* Whether there are tasks that have not ended. */
    virtual bool has_tasks() const = 0;
    /* Throws Error if what is waited for cannot come. */
    virtual void check_progress() = 0;
    /* Null: nobody looks at when somebody was idle. */
    virtual Trace *trace() = 0;

protected:
    ~Duty() = default;
};

/* Thread-safe. */
class Crew {
public:
    using Condition = std::function<bool()>;

    Crew(Lanes &lanes, Duty &duty) : lanes_(lanes), duty_(duty) {}
    Crew(const Crew &) = delete;
    Crew &operator=(const Crew &) = delete;

    /* The task is ready, and somebody is to come to it; @in_order: not before those of its priority that were. */
    void enqueue(Lane &mine, Task &task, bool in_order = false);
    /* Runs tasks until @done, or @until; whether it is done. @waits: it is no worker, or one that waits in a task. */
    bool work_until(Lane &mine, bool waits, const Condition &done, Clock::time_point until);
    /* There is something to do for one. */
    void wake_worker();
    void wake_all();
    /* Something has ended that somebody may wait for. */
    void tell_waiters();
    /* Whether there is something to do for somebody. */
    bool has_ready() const { return queues_have_some() || left_count_.load(std::memory_order_relaxed); }

private:
    /* How a thread gets on: whether what it takes from others is short. */
    struct Pace {
        unsigned next_victim = 0, ran = 0;          /* tasks since the last steal */
        std::size_t stolen = 0;                     /* the last time */
        std::uint64_t stolen_at = 0, ran_until = 0; /* in cycles: that, and the end of the last task */
    };
    /* Those with a priority, the most urgent first, and of these the first that was ready. */
    struct Urgent {
        int priority;
        std::uint64_t order;
        Task *task;
        bool operator<(const Urgent &other) const
        {
            return priority != other.priority ? priority < other.priority : order > other.order;
        }
    };

    bool run_next(Lane &mine, Pace &pace, bool waits, bool was_idle);
    Task *next(Lane &mine, Pace &pace, bool waits);
    Task *take_any(Lane &mine, Pace &pace);
    void leave(Task &task);
    Task *take_left(bool waits);
    /* Whether next() is likely to find one. */
    bool has_ready_for(bool waits) const;
    bool queues_have_some() const;
    /* The most urgent one, if its priority is that or more: those below 0 come after all that have none. */
    Task *take_urgent(int least);
    Task *steal(Lane &mine, Pace &pace);
    bool let_gather(const Pace &pace);
    bool search(bool waits, const Condition &done);
    void note_search();
    bool are_short() const;
    unsigned most_searching() const;
    bool others_look() const;
    void wake_another();
    void rest(Lane &mine, bool waits, const Condition &done, Clock::time_point until, unsigned rests);

    Lanes &lanes_;
    Duty &duty_;

    Mutex urgent_mutex_;
    std::priority_queue<Urgent> urgent_ PTSCHED_GUARDED_BY(urgent_mutex_);
    std::uint64_t urgent_order_ PTSCHED_GUARDED_BY(urgent_mutex_) = 0;
    std::atomic<std::size_t> urgent_count_{0};

    /* Those that somebody who waits in a task has found, and was not to run. */
    mutable Mutex left_mutex_;
    std::deque<Task *> left_ PTSCHED_GUARDED_BY(left_mutex_);
    std::atomic<std::size_t> left_count_{0};

    Sleepers sleepers_, waiters_; /* workers, and who waits */
    /* Threads that look for something to do and do not sleep yet, and that wait for more of it. */
    alignas(64) std::atomic<unsigned> searching_{0}, gathering_{0};
    alignas(64) std::atomic<std::uint64_t> last_search_{0}; /* when one did, in cycles; 0: they sleep */
    std::atomic<std::uint64_t> short_at_{0};                /* when tasks were short, in cycles */
    std::atomic<bool> waking_{false};                       /* one is on his way from sleep */
    alignas(64) std::atomic<std::uint64_t> told_{0};        /* when those who wait were last, in cycles */
    std::atomic<bool> guards_{false}; /* a thread that has nothing to do does not sleep for long */
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_CREW_HPP */
