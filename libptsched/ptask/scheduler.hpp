/* SPDX-License-Identifier: MIT */
/*
 * The thread that runs a graph: takes the task that is due, finds it a device and a queue, and gives it work. What a
 * GPU will write is passed on at once, since the queues keep the order; what the host will write, when it is written.
 */
#ifndef PTSCHED_PTASK_SCHEDULER_HPP
#define PTSCHED_PTASK_SCHEDULER_HPP

#include "channel.hpp"

#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>

namespace ptsched::ptask {

class Scheduler {
public:
    ~Scheduler();
    /* For a graph whose tasks do not change any more. */
    void start(const std::vector<std::unique_ptr<Task>> &tasks);
    void stop();
    bool started() const;

    bool push(Channel &channel, DatablockPtr block, Timeout timeout);
    DatablockPtr pull(Channel &channel, Timeout timeout);

    State state(const Task &task) const;
    std::uint64_t completed(const Task &task) const;
    void set_priority(Task &task, int priority);

private:
    using Clock = std::chrono::steady_clock;
    using Lock = std::unique_lock<std::mutex>;

    struct Due {
        double
            rank; /* priority less the second since which it waits: the difference of two does not change with time */
        std::uint64_t number;
        Task *task;
        bool operator<(const Due &other) const
        {
            return rank != other.rank ? rank < other.rank : number > other.number;
        }
    };

    /* A run of a task that was given to a queue. */
    struct Run {
        Task *task;
        device::MarkerPtr marker;
        std::vector<DatablockPtr> held; /* until its end */
        std::vector<std::pair<Port *, DatablockPtr>> late;
    };

    struct Lane {
        device::Device *device;
        std::deque<Run> runs; /* before the queue, whose end waits for what uses their blocks */
        std::unique_ptr<device::Queue> queue;
    };

    template <typename Condition> bool wait(Lock &lock, Timeout timeout, Condition condition);
    void work();
    bool can_run(const Task &task) const;
    void look_at(Task &task);
    void took_from(Channel &channel);
    void put_into(Channel &channel, DatablockPtr block);
    void deliver(const std::vector<std::pair<Port *, DatablockPtr>> &outputs);
    void dispatch(Lock &lock, Task &task);
    static void launch(Run &run, Lane &lane);
    Lane &choose(const Task &task, const std::vector<DatablockPtr> &blocks);
    void add_lanes(device::Device &device, unsigned count);
    bool poll();
    void finish(Run &run);
    void fail(const Task &task, const std::string &what);
    void throw_if_failed() const;

    mutable std::mutex mutex_;        /* protects what follows, and tasks and channels; before a datablock's */
    std::condition_variable changed_; /* for who pushes and pulls */
    std::condition_variable wanted_;  /* for the thread */
    std::priority_queue<Due> due_;
    std::uint64_t number_ = 0;
    std::vector<std::unique_ptr<Lane>> lanes_;
    std::size_t running_ = 0;
    bool started_ = false;
    bool stopping_ = false;
    std::string failure_;
    Clock::time_point began_ = Clock::now();
    std::thread thread_;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_SCHEDULER_HPP */
