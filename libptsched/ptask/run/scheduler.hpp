/* SPDX-License-Identifier: MIT */
/*
 * What runs a graph: takes the task that is due, finds it a device and a queue, and gives it work. What a GPU will
 * write is passed on at once, since the queues keep the order; what the host will write, when it is written. One thread
 * at a time does that, who drives: one that pushes, waits or has just ended a run, and the graph's own if there is
 * none.
 */
#ifndef PTSCHED_PTASK_RUN_SCHEDULER_HPP
#define PTSCHED_PTASK_RUN_SCHEDULER_HPP

#include "libptsched/base/unlocked.hpp"
#include "libptsched/ptask/devices/arbiter.hpp"
#include "libptsched/ptask/replay/runner.hpp"
#include "libptsched/ptask/run/deadline.hpp"
#include "libptsched/ptask/run/naps.hpp"
#include "libptsched/ptask/run/timeline.hpp"

#include <mutex>
#include <span>
#include <thread>
#include <utility>

namespace ptsched::ptask {

class Replayer;

class Scheduler final : private Runner {
public:
    /* As long as this lives, the calling thread runs a function of the graph. */
    class Calling {
    public:
        explicit Calling(const Scheduler &scheduler) : scheduler_(scheduler), outer_(std::exchange(innermost_, this)) {}
        ~Calling() { innermost_ = outer_; }
        Calling(const Calling &) = delete;
        Calling &operator=(const Calling &) = delete;
        static bool is_for(const Scheduler &scheduler);

    private:
        const Scheduler &scheduler_;
        const Calling *const outer_; /* a function that waits for this graph: who waits runs what is brief */
        static thread_local const Calling *innermost_;
    };

    explicit Scheduler(const GraphOptions &options);
    ~Scheduler();
    /* Throws Error if it was started or stopped. */
    void must_be_new() const;
    /* For a graph whose tasks do not change any more, and live as long. */
    void start(const std::vector<std::unique_ptr<TaskImpl>> &tasks);
    void stop();
    bool started() const;
    bool stopping() const;
    /* A channel at which somebody may wait. */
    void add_outer(Channel &channel);

    bool push(std::span<Channel *const> channels, Item &&item, Timeout timeout, const std::stop_token &stop);
    /* @end_stays: see Output::take_before_end(). */
    std::optional<Item> pull(Channel &channel, Timeout timeout, const std::stop_token &stop, bool end_stays);
    void give_back(Channel &channel, Item &&item);
    bool drain(Timeout timeout);
    /* See Output::descriptor(). */
    int descriptor(Channel &channel);
    /* Of that of the channels which has least room. */
    Depth depth(std::span<Channel *const> channels) const;

    PortState state(const PortImpl &port) const;
    State state(const TaskImpl &task) const;
    std::uint64_t count(const TaskImpl &task, std::uint64_t TaskImpl::*counter) const;
    std::uint64_t lowered(const TaskImpl &task) const;
    void set_priority(TaskImpl &task, int TaskImpl::*which, int priority);
    std::vector<DeviceCounters> counters() const;
    std::string timeline(const std::vector<std::unique_ptr<TaskImpl>> &tasks) const;
    /* @pulls: it does not come before one that pushes or was named, while that is alive. */
    void work_for(const device::RequesterPtr &requester, bool pulls = false);

private:
    using Lock = std::unique_lock<std::mutex>;

    /* What is on its way to the host, for the run-time to read: a run's output, or what is in a channel. */
    struct Fetch {
        device::MarkerPtr marker;
        GraphDevice *from; /* null: none of the graph's */
        std::size_t bytes;
        Clock::time_point began;
        Run *run = nullptr;
        Channel *channel = nullptr;
        const Datablock *block = nullptr; /* of the channel's */
        bool counts = true;               /* where it comes from; one for several channels does so once */
        explicit operator bool() const { return marker != nullptr; }
    };

    void prepare(const std::vector<std::unique_ptr<TaskImpl>> &tasks);

    std::mutex &mutex() override { return mutex_; }
    GraphDevices &devices() override { return graph_devices_; }
    Timeline *timeline() override { return timeline_.get(); }
    bool is_stopping() const override { return stopping_; }
    bool has_failed() const override { return !failure_.empty(); }
    bool any_due_on_devices() const override { return !due_[1].empty(); }
    void time_passed() override { now_.passes(); }
    void begin_to_watch() override;

    /* channel_traffic.cpp: what comes and goes */
    template <typename Condition>
    bool wait(Lock &lock, Channel &channel, const Deadline &deadline, const std::stop_token &stop, Condition condition);
    void must_come_to_run(const Channel &channel) const;
    bool is_drained() const;
    static Depth fullest(std::span<Channel *const> channels);
    struct Waker;
    static bool can_run(const TaskImpl &task);
    void add_due(TaskImpl &task) override;
    void look_at(TaskImpl &task) override;
    void took_from(Channel &channel) override;
    static bool is_fetched(const Channel &channel, const Item &item);
    void put_into(Channel &channel, Token &&token) override;
    void put_into(Channel &channel, Token &&token, Fetch &started);
    void expect_read(Channel &channel, Datablock &block);
    void take_input(Run &run, PortImpl &port);
    void deliver(Run &run);
    Fetch fetch(Datablock &block);

    /* work_loop.cpp: who does it */
    struct Driving;
    enum class Sleep { none, nap, for_good };
    void work();
    void rest(Lock &lock, Naps &naps);
    bool run_for(Lock &lock, const Channel &channel);
    void help_or_rest(Lock &lock, Channel &channel, Naps &naps);
    void advance(Lock &lock, bool in_a_hurry);
    bool may_begin() const { return !stopping_ && failure_.empty(); }
    /* Somebody other than the thread, which waits for who does, and is the last. */
    bool may_drive() const { return started_ && !driven_ && may_begin(); }
    bool step(Lock &lock);
    void host_has_ended();
    void hand_over() override;
    bool is_awaited() const;
    bool is_idle() const override;
    TaskImpl *next_due();
    bool any_due() const override { return !due_[0].empty() || !due_[1].empty(); }
    static bool awaits(const Run &run);

    Run &new_run(TaskImpl &task);
    void attempt(Lock &lock, TaskImpl &task);
    void take_up();
    void work_for_requester();
    void dispatch(Lock &lock, TaskImpl &task);
    void launch(Lock &lock, Run &run);
    static void fetch_ahead(const TaskImpl &task);

    /* completion.cpp: what has ended */
    bool poll();
    bool ends_one_by_one(const Lane &lane) const;
    bool poll(Lane &lane);
    bool poll_host();
    bool poll_fetches();
    static const TaskImpl &task_of(const Fetch &fetch);
    void moved(Run &run);
    static std::size_t ended_in(const Lane &lane);
    static bool keeps_up_in_all(const GraphDevice &graph_device);
    void look_into(Lane &lane);
    void look_back(Lane &lane);
    void take_out(Lane &lane, std::size_t count);
    static void measured(const Run &run, GraphDevice &graph_device);
    void left(Run &run, double seconds);
    void arrived(const Fetch &fetch);
    static void all_is_here(Channel &channel);
    void ended(Run &run);
    void flush(TaskImpl &task);
    void complete(Run &run);
    void fail(const TaskImpl &task, const std::string &what);
    /* One of these, or if it was a Fault, of all that have been given to the device and have not ended. */
    void fail(std::vector<const TaskImpl *> tasks, const GraphDevice &graph_device,
              const std::exception &error) override;
    void fail(const std::string &what);
    void throw_if_failed() const;
    void wake_thread();
    void wake_everybody();
    void end_outer();

    mutable std::mutex mutex_;       /* protects what follows, and tasks and channels; before a datablock's */
    std::condition_variable wanted_; /* for the thread */
    Sleep sleep_ = Sleep::none;      /* how it waits for that */
    bool driven_ = false;            /* somebody drives: tasks' runs, lanes and devices are that one's */
    bool helped_ = false;            /* others than the thread have driven since it has looked */
    unsigned helping_ = 0;           /* those who run what a queue of the host has, without the lock */
    std::condition_variable nobody_helps_;
    bool left_to_thread_ = false;            /* there is more to do than others do */
    bool host_ended_ = false;                /* work that the host had, since who drives has looked */
    Arbiter due_[2];                         /* for the host, for other devices */
    std::vector<std::unique_ptr<Run>> runs_; /* all that there are */
    std::vector<Run *> spare_;
    device::RequesterPtr requester_;
    bool requester_pulls_ = false;
    std::vector<TaskImpl *> put_off_; /* until there is a turn */
    GraphDevices graph_devices_;
    std::vector<Fetch> fetches_;
    std::size_t running_ = 0;
    std::size_t awaited_ = 0;   /* of them, those whose end nobody will tell and others wait for */
    unsigned unpolled_ = 0;     /* runs since it was last looked for what ended */
    Clock::time_point polled_;  /* when it was */
    Clock::time_point watched_; /* when it was last looked at what was lowered, or that became of use */
    bool started_ = false;
    bool stopping_ = false;
    std::string failure_;
    std::exception_ptr cause_; /* of the failure: what a function threw, or null */
    bool over_ = false;        /* nothing begins any more, and all that was begun has ended */
    Now now_;
    const PriorityWeights weights_;
    std::unique_ptr<Timeline> timeline_; /* null: nobody asks */
    std::vector<Channel *> outer_;
    const std::vector<std::unique_ptr<TaskImpl>> *tasks_ = nullptr; /* once it is started */
    std::condition_variable drained_;
    std::unique_ptr<Replayer> replayer_;
    std::mutex stop_mutex_; /* held by who makes the thread, or waits for it; before the other */
    std::thread thread_;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_RUN_SCHEDULER_HPP */
