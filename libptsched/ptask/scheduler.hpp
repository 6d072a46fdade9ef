/* SPDX-License-Identifier: MIT */
/*
 * The thread that runs a graph: takes the task that is due, finds it a device and a queue, and gives it work. What a
 * GPU will write is passed on at once, since the queues keep the order; what the host will write, when it is written.
 */
#ifndef PTSCHED_PTASK_SCHEDULER_HPP
#define PTSCHED_PTASK_SCHEDULER_HPP

#include "run.hpp"

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
    /* A channel at which somebody may wait. */
    void add_outer(Channel &channel) { outer_.push_back(&channel); }

    bool push(Channel &channel, Item item, Timeout timeout);
    std::optional<Item> pull(Channel &channel, Timeout timeout);

    State state(const Task &task) const;
    std::uint64_t count(const Task &task, std::uint64_t Task::*counter) const;
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

    struct Lane {
        device::Device *device;
        Ring<Run *> runs;
        std::unique_ptr<device::Queue> queue;
    };

    /* What is on its way to the host, for the run-time to read: a run's output, or what is in a channel. */
    struct Fetch {
        device::MarkerPtr marker;
        Run *run;
        Channel *channel;
    };

    /* tokens.cpp: what comes and goes */
    template <typename Condition> bool wait(Lock &lock, Channel &channel, Timeout timeout, Condition condition);
    static bool has_input(const Port &port);
    static bool can_run(const Task &task);
    void look_at(Task &task);
    void took_from(Channel &channel);
    void put_into(Channel &channel, Token token);
    void take_input(Run &run, Port &port);
    void deliver(Run &run);
    static device::MarkerPtr fetch(Datablock &block);

    void work();
    void add_lanes(device::Device &device, unsigned count);
    Task *next_due();
    Run &new_run(Task &task);
    Lane &choose(const Run &run);
    void attempt(Lock &lock, Task &task);
    void dispatch(Lock &lock, Task &task);
    void launch(Lock &lock, Run &run);
    bool poll();
    bool poll(Lane &lane);
    bool poll_fetches();
    void ended(Run &run);
    void flush(Task &task);
    void complete(Run &run);
    void fail(const Task &task, const std::string &what);
    void throw_if_failed() const;
    void wake_thread();
    void wake_everybody();

    mutable std::mutex mutex_;       /* protects what follows, and tasks and channels; before a datablock's */
    std::condition_variable wanted_; /* for the thread */
    bool asleep_ = false;            /* it waits for that */
    std::priority_queue<Due> due_;
    std::uint64_t number_ = 0;
    std::vector<std::unique_ptr<Run>> runs_; /* all that there are */
    std::vector<Run *> spare_;
    std::vector<std::unique_ptr<Lane>> lanes_;
    std::vector<Fetch> fetches_;
    std::size_t running_ = 0;
    unsigned unpolled_ = 0; /* runs since it was last looked for what ended */
    bool started_ = false;
    bool stopping_ = false;
    std::string failure_;
    Clock::time_point began_ = Clock::now();
    std::vector<Channel *> outer_;
    std::thread thread_;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_SCHEDULER_HPP */
