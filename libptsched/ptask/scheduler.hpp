/* SPDX-License-Identifier: MIT */
/*
 * The thread that runs a graph: takes the task that is due, finds it a device and a queue, and gives it work. What a
 * GPU will write is passed on at once, since the queues keep the order; what the host will write, when it is written.
 */
#ifndef PTSCHED_PTASK_SCHEDULER_HPP
#define PTSCHED_PTASK_SCHEDULER_HPP

#include "timeline.hpp"

#include <mutex>
#include <thread>

namespace ptsched::ptask {

class Scheduler {
public:
    explicit Scheduler(const GraphOptions &options);
    ~Scheduler();
    /* For a graph whose tasks do not change any more. */
    void start(const std::vector<std::unique_ptr<Task>> &tasks);
    void stop();
    bool started() const;
    /* A channel at which somebody may wait. */
    void add_outer(Channel &channel) { outer_.push_back(&channel); }

    bool push(Channel &channel, Item &&item, Timeout timeout, const std::stop_token &stop);
    std::optional<Item> pull(Channel &channel, Timeout timeout, const std::stop_token &stop);
    void give_back(Channel &channel, Item &&item);

    State state(const Task &task) const;
    std::uint64_t count(const Task &task, std::uint64_t Task::*counter) const;
    void set_priority(Task &task, int Task::*which, int priority);
    std::vector<DeviceCounters> counters() const;
    std::string timeline(const std::vector<std::unique_ptr<Task>> &tasks) const;

private:
    using Lock = std::unique_lock<std::mutex>;

    /* What is on its way to the host, for the run-time to read: a run's output, or what is in a channel. */
    struct Fetch {
        device::MarkerPtr marker;
        const device::Device *from;
        std::size_t bytes;
        Clock::time_point began;
        Run *run = nullptr;
        Channel *channel = nullptr;
        explicit operator bool() const { return marker != nullptr; }
    };

    /* tokens.cpp: what comes and goes */
    template <typename Condition>
    bool wait(Lock &lock, Channel &channel, Timeout timeout, const std::stop_token &stop, Condition condition);
    /* For a stop_callback, which is made before the lock is taken and goes after it. */
    auto waker(Channel &channel);
    static bool has_input(const Port &port);
    static bool can_run(const Task &task);
    void look_at(Task &task);
    void took_from(Channel &channel);
    void put_into(Channel &channel, Token &&token);
    void take_input(Run &run, Port &port);
    void deliver(Run &run);
    Fetch fetch(Datablock &block);

    void work();
    Task *next_due();
    bool any_due() const { return !due_[0].empty() || !due_[1].empty(); }
    Run &new_run(Task &task);
    void attempt(Lock &lock, Task &task);
    void dispatch(Lock &lock, Task &task);
    void launch(Lock &lock, Run &run);

    /* poll.cpp: what has ended */
    bool poll();
    bool poll(Lane &lane);
    bool poll_fetches();
    void left(Run &run, bool first);
    void arrived(const Fetch &fetch);
    void ended(Run &run);
    void flush(Task &task);
    void complete(Run &run);
    void fail(const Task &task, const std::string &what);
    void throw_if_failed() const;
    void wake_thread();
    void wake_everybody();

    mutable std::mutex mutex_;               /* protects what follows, and tasks and channels; before a datablock's */
    std::condition_variable wanted_;         /* for the thread */
    bool asleep_ = false;                    /* it waits for that */
    Ready due_[2];                           /* for the host, for other devices */
    std::vector<std::unique_ptr<Run>> runs_; /* all that there are */
    std::vector<Run *> spare_;
    Places places_;
    std::vector<Fetch> fetches_;
    std::size_t running_ = 0;
    unsigned unpolled_ = 0; /* runs since it was last looked for what ended */
    bool started_ = false;
    bool stopping_ = false;
    std::string failure_;
    Clock::time_point now_ = Clock::now(); /* when somebody looked last */
    const PriorityWeights weights_;
    std::unique_ptr<Timeline> timeline_; /* null: nobody asks */
    std::vector<Channel *> outer_;
    std::thread thread_;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_SCHEDULER_HPP */
