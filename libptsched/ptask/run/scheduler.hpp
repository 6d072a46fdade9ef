/* SPDX-License-Identifier: MIT */
/*
 * What runs a graph: takes the task that is due, finds it a device and a queue, and gives it work. What a GPU will
 * write is passed on at once, since the queues keep the order; what the host will write, when it is written. One thread
 * at a time does that, who drives: one that pushes, waits or has just ended a run, and the graph's own if there is
 * none.
 */
#ifndef PTSCHED_PTASK_RUN_SCHEDULER_HPP
#define PTSCHED_PTASK_RUN_SCHEDULER_HPP

#include "libptsched/ptask/devices/arbiter.hpp"
#include "libptsched/ptask/replay/runner.hpp"
#include "libptsched/ptask/run/timeline.hpp"
#include "libptsched/ptask/time/deadline.hpp"
#include "libptsched/ptask/time/naps.hpp"

#include <condition_variable>
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

    void prepare(const std::vector<std::unique_ptr<TaskImpl>> &tasks) PTASK_LOCKED;

    Mutex &mutex() const PTSCHED_RETURNS_LOCK(graph_lock) override { return mutex_; }
    GraphDevices &devices() PTASK_LOCKED override { return graph_devices_; }
    bool keeps_timeline() const PTASK_LOCKED override { return timeline_ != nullptr; }
    void replayed(const device::Device &device, const Replay &replay, const Subgraph &subgraph,
                  const Replay::Moved &moved, Clock::time_point began, Clock::time_point ended) PTASK_LOCKED override
    {
        timeline_->replayed(device, replay, subgraph, moved, began, ended);
    }
    bool is_stopping() const PTASK_LOCKED override { return stopping_; }
    bool has_failed() const PTASK_LOCKED override { return !failure_.empty(); }
    bool any_due_on_devices() const PTASK_LOCKED override { return !due_[1].empty(); }
    void time_passed() PTASK_LOCKED override { now_.passes(); }
    void begin_to_watch() PTASK_LOCKED override;

    /* channel_traffic.cpp: what comes and goes */
    template <typename Condition>
    bool wait(Lock &lock, Channel &channel, const Deadline &deadline, const std::stop_token &stop,
              Condition condition) PTASK_LOCKED;
    void must_come_to_run(const Channel &channel) const PTASK_LOCKED;
    bool is_drained() const PTASK_LOCKED;
    static Depth fullest(std::span<Channel *const> channels) PTASK_LOCKED;
    struct Waker;
    static bool can_run(const TaskImpl &task) PTASK_LOCKED;
    void add_due(TaskImpl &task) PTASK_LOCKED override;
    void look_at(TaskImpl &task) PTASK_LOCKED override;
    void took_from(Channel &channel) PTASK_LOCKED override;
    static bool is_fetched(const Channel &channel, const Item &item) PTASK_LOCKED;
    void put_into(Channel &channel, Token &&token) PTASK_LOCKED override;
    void put_into(Channel &channel, Token &&token, Fetch &started) PTASK_LOCKED;
    void expect_read(Channel &channel, Datablock &block) PTASK_LOCKED;
    void take_input(Run &run, PortImpl &port) PTASK_LOCKED;
    void deliver(Run &run) PTASK_LOCKED;
    Fetch fetch(Datablock &block) PTASK_LOCKED;

    /* work_loop.cpp: who does it */
    struct Driving;
    enum class Sleep { none, nap, for_good };
    void work();
    void rest(Lock &lock, Naps &naps) PTASK_LOCKED;
    bool run_for(Lock &lock, const Channel &channel) PTASK_LOCKED;
    void help_or_rest(Lock &lock, Channel &channel, Naps &naps) PTASK_LOCKED;
    void advance(Lock &lock, bool in_a_hurry) PTASK_LOCKED;
    bool may_begin() const PTASK_LOCKED { return !stopping_ && failure_.empty(); }
    /* Somebody other than the thread, which waits for who does, and is the last. */
    bool may_drive() const PTASK_LOCKED { return started_ && !driven_ && may_begin(); }
    bool step(Lock &lock) PTASK_LOCKED;
    void host_has_ended();
    void hand_over() PTASK_LOCKED override;
    bool is_awaited() const PTASK_LOCKED;
    bool is_idle() const PTASK_LOCKED override;
    TaskImpl *next_due() PTASK_LOCKED;
    bool any_due() const PTASK_LOCKED override { return !due_[0].empty() || !due_[1].empty(); }
    static bool awaits(const Run &run) PTASK_LOCKED;

    Run &new_run(TaskImpl &task) PTASK_LOCKED;
    void attempt(Lock &lock, TaskImpl &task) PTASK_LOCKED;
    void take_up();
    void work_for_requester() PTASK_LOCKED;
    void dispatch(Lock &lock, TaskImpl &task) PTASK_LOCKED;
    void launch(Lock &lock, Run &run) PTASK_LOCKED;
    static void fetch_ahead(const TaskImpl &task) PTASK_LOCKED;

    /* completion.cpp: what has ended */
    bool poll() PTASK_LOCKED;
    bool ends_one_by_one(const Lane &lane) const PTASK_LOCKED;
    bool poll(Lane &lane) PTASK_LOCKED;
    bool poll_host() PTASK_LOCKED;
    bool poll_fetches() PTASK_LOCKED;
    static const TaskImpl &task_of(const Fetch &fetch);
    void moved(Run &run) PTASK_LOCKED;
    static std::size_t ended_in(const Lane &lane) PTASK_LOCKED;
    static bool keeps_up_in_all(const GraphDevice &graph_device) PTASK_LOCKED;
    void look_into(Lane &lane) PTASK_LOCKED;
    void look_back(Lane &lane) PTASK_LOCKED;
    void take_out(Lane &lane, std::size_t count) PTASK_LOCKED;
    static void measured(const Run &run, GraphDevice &graph_device) PTASK_LOCKED;
    void left(Run &run, double seconds) PTASK_LOCKED;
    void arrived(const Fetch &fetch) PTASK_LOCKED;
    static void all_is_here(Channel &channel) PTASK_LOCKED;
    void ended(Run &run) PTASK_LOCKED;
    void flush(TaskImpl &task) PTASK_LOCKED;
    void complete(Run &run) PTASK_LOCKED;
    void fail(const TaskImpl &task, const std::string &what) PTASK_LOCKED;
    /* One of these, or if it was a Fault, of all that have been given to the device and have not ended. */
    void fail(std::vector<const TaskImpl *> tasks, const GraphDevice &graph_device,
              const std::exception &error) PTASK_LOCKED override;
    void fail(const std::string &what) PTASK_LOCKED;
    void throw_if_failed() const PTASK_LOCKED;
    void wake_thread() PTASK_LOCKED;
    void wake_everybody() PTASK_LOCKED;
    void end_outer() PTASK_LOCKED;

    mutable Mutex mutex_;                     /* which is graph_lock */
    std::condition_variable wanted_;          /* for the thread */
    Sleep sleep_ PTASK_GUARDED = Sleep::none; /* how it waits for that */
    bool driven_ PTASK_GUARDED = false;       /* somebody drives: tasks' runs, lanes and devices are that one's */
    bool helped_ PTASK_GUARDED = false;       /* others than the thread have driven since it has looked */
    unsigned helping_ PTASK_GUARDED = 0;      /* those who run what a queue of the host has, without the lock */
    std::condition_variable nobody_helps_;
    bool left_to_thread_ PTASK_GUARDED = false;            /* there is more to do than others do */
    bool host_ended_ PTASK_GUARDED = false;                /* work that the host had, since who drives has looked */
    Arbiter due_[2] PTASK_GUARDED;                         /* for the host, for other devices */
    std::vector<std::unique_ptr<Run>> runs_ PTASK_GUARDED; /* all that there are */
    std::vector<Run *> spare_ PTASK_GUARDED;
    device::RequesterPtr requester_ PTASK_GUARDED;
    bool requester_pulls_ PTASK_GUARDED = false;
    std::vector<TaskImpl *> put_off_ PTASK_GUARDED; /* until there is a turn */
    GraphDevices graph_devices_;
    std::vector<Fetch> fetches_ PTASK_GUARDED;
    std::size_t running_ PTASK_GUARDED = 0;
    std::size_t awaited_ PTASK_GUARDED = 0;   /* of them, those whose end nobody will tell and others wait for */
    unsigned unpolled_ PTASK_GUARDED = 0;     /* runs since it was last looked for what ended */
    Clock::time_point polled_ PTASK_GUARDED;  /* when it was */
    Clock::time_point watched_ PTASK_GUARDED; /* when it was last looked at what was lowered, or that became of use */
    bool started_ PTASK_GUARDED = false;
    bool stopping_ PTASK_GUARDED = false;
    std::string failure_ PTASK_GUARDED;
    std::exception_ptr cause_ PTASK_GUARDED; /* of the failure: what a function threw, or null */
    bool over_ PTASK_GUARDED = false;        /* nothing begins any more, and all that was begun has ended */
    Now now_ PTASK_GUARDED;
    const PriorityWeights weights_;
    std::unique_ptr<Timeline> timeline_; /* null: nobody asks */
    std::vector<Channel *> outer_ PTASK_GUARDED;
    const std::vector<std::unique_ptr<TaskImpl>> *tasks_ PTASK_GUARDED = nullptr; /* once it is started */
    std::condition_variable drained_;
    std::unique_ptr<Replayer> replayer_;
    Mutex stop_mutex_; /* held by who makes the thread, or waits for it; before the other */
    std::thread thread_ PTSCHED_GUARDED_BY(stop_mutex_);
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_RUN_SCHEDULER_HPP */
