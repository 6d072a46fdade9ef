/* SPDX-License-Identifier: MIT */
/*
 * Parts of a graph that a GPU is given as one: when a subgraph has run in the same way some times, its tasks come to a
 * halt between two sets of blocks, and from then on whoever brings the last block of a set gives all of it to the GPU,
 * or, where there are several, to the thread that works for the one chosen; short sets go several at once where many
 * results wait to be taken. What a program cannot do, a signal for one, or a set of which something runs before the
 * rest has come, its tasks do again by themselves.
 */
#ifndef PTSCHED_PTASK_REPLAY_REPLAYER_HPP
#define PTSCHED_PTASK_REPLAY_REPLAYER_HPP

#include "libptsched/ptask/replay/batch.hpp"
#include "libptsched/ptask/replay/comparison.hpp"
#include "libptsched/ptask/replay/double_buffering.hpp"
#include "libptsched/ptask/replay/launch_thread.hpp"
#include "libptsched/ptask/replay/runner.hpp"

#include <condition_variable>
#include <deque>
#include <list>
#include <unordered_map>

namespace ptsched::ptask {

/* Of a device. */
struct DeviceQueues {
    std::deque<SetQueue> for_sets;
    std::unique_ptr<device::Queue> for_results; /* of sets in pairs */
};

/* A set of blocks, or a batch of sets, that a queue has. */
struct Flight {
    const Replay *replay = nullptr;
    Replay::Moved moved = {};
    SetQueue *queue = nullptr;
    GraphDevice *graph_device = nullptr;
    device::MarkerPtr marker;
    std::vector<DatablockPtr> held; /* until its end */
    Clock::time_point began;
    double seconds = 0;        /* that it was expected to take */
    std::size_t counts_as = 0; /* runs, at the device */
    std::size_t sets = 1;
    double share = 0;                     /* of the device's time, when it began */
    std::uint64_t number = 0;             /* of all sets of the graph */
    bool is_lone = false;                 /* in such a replay */
    std::unique_ptr<device::Watch> watch; /* of the trial */
};

/* A subgraph, and how it runs at the moment. */
struct ReplayedSubgraph {
    enum Mode {
        apart,    /* its tasks run by themselves */
        halting,  /* until each has run as often as the others */
        together, /* in sets */
    };

    Subgraph subgraph;
    bool goes_ahead = false; /* what comes in is copied before the rest of its set has come */
    Mode mode = apart;
    /* While its tasks run by themselves: how often each must have run, and what a run takes the host. */
    std::uint64_t until = 0;
    std::uint64_t missing = 0; /* runs to the halt */
    std::uint64_t patience = 0;
    Average run_seconds = {};
    /* Together. */
    std::size_t absent = 0; /* inputs whose next block has not come */
    bool sticky_came = false;
    std::uint64_t before_sticky = 0; /* sets that were complete when it did, and take what was there before */
    bool launching = false;          /* somebody has a set of it, perhaps without the lock */
    std::size_t where = 0;           /* of the head's devices, for that set */
    double expected = 0;             /* seconds that this device is expected to need for it */
    std::size_t counts_as = 0;       /* runs, there */
    std::uint64_t apart_for = 0;     /* afterwards its tasks run by themselves at least that often; 0: they do not */
    std::uint64_t sets = 0;          /* that have ended */
    std::uint64_t sets_before = 0;   /* they were together the last time */
    unsigned given = 0;              /* sets, and how many of them were compared with their tasks by themselves */
    unsigned compared = 0;
    double gpu_seconds = 0;   /* that a device works for a set: at first, for its tasks by themselves */
    double least_seconds = 0; /* that the host needed to give one of those compared */
    ReplaySet set = {};       /* the one that is launched, or was the last */
    std::vector<std::list<std::unique_ptr<Replay>>> replays = {}; /* by device; those used last come last */
    /*
     * By device: for a set while the device has nothing else. A kernel that writes a result once and never reads it may
     * do that in the host's memory, so that nobody has to copy it; of others this would take long, and while there is
     * more to do it keeps a device from that. So lone sets are given in both ways at first, again when others are read
     * than before.
     */
    std::vector<std::unique_ptr<Replay>> lone_replays = {};
    Comparison lone_comparison = {};
    double spared_seconds = 0;      /* that copies to the host take, without which a lone set may do */
    unsigned overtaken = 0;         /* of its sets in a row, by the next ones */
    bool wants_lone_replay = false; /* for the set at hand, unless inputs have gone ahead to another */
    /* Of sets one after another, where that may be worth it. */
    std::unique_ptr<Batch> batch = {};
    bool may_batch = true;          /* none could not be given, as for lack of memory */
    bool is_batch = false;          /* what is at hand */
    bool waits = false;             /* there is a set, which waits until there are enough for a batch */
    bool hurries = false;           /* until there is none: none does */
    bool stays = false;             /* the last one needed nothing from elsewhere */
    bool may_double_buffer = false; /* each of its kernels fills a device, and results come at the end */
    DoubleBuffering double_buffering = {};
    Ring<Flight> flights = {};
    bool moved = false;   /* blocks to it or from it, since the last look */
    unsigned stalled = 0; /* looks at it that found a set that something is missing of, and nothing else to do */

    TaskImpl &head() const { return *subgraph.tasks.front(); }
    /* What is at hand. */
    const Subgraph &subgraph_at_hand() const { return is_batch ? batch->subgraph : subgraph; }
    ReplaySet &set_at_hand() { return is_batch ? batch->set : set; }
    std::size_t sets_at_hand() const { return is_batch ? Batch::sets : 1; }
    std::list<std::unique_ptr<Replay>> &replays_at_hand() { return is_batch ? batch->replays : replays[where]; }
    template <typename Function> void for_replays(Function function) const
    {
        for (const auto &some : replays)
            for (const auto &replay : some)
                function(*replay);
        for (const auto &replay : lone_replays)
            if (replay)
                function(*replay);
        if (batch)
            std::ranges::for_each(batch->replays, [&](const auto &replay) { function(*replay); });
    }
};

class Replayer {
public:
    Replayer(Runner &runner, const GraphOptions &options);
    ~Replayer();

    void start(const std::vector<std::unique_ptr<TaskImpl>> &tasks) PTASK_LOCKED;
    /* Whether a task may run by itself: it has what it needs. */
    static bool lets(const TaskImpl &task) PTASK_LOCKED
    {
        const ReplayedSubgraph *replayed = task.replayed_;
        return !replayed || replayed->mode == ReplayedSubgraph::apart ||
               (replayed->mode == ReplayedSubgraph::halting && task.begun_ < replayed->until);
    }
    /* One has run by itself, which took the host that long; with @odd, as no program could. */
    void ran(TaskImpl &task, Seconds took, bool odd) PTASK_LOCKED;
    /* Something has come to a task of a subgraph, or was taken from one. */
    void came(const Channel &channel) PTASK_LOCKED;
    void left(ReplayedSubgraph &replayed) PTASK_LOCKED;
    /* Whether it is to be told that something was taken there, though there was room before. */
    static bool waits_for(const Channel &channel) PTASK_LOCKED
    {
        const ReplayedSubgraph *replayed = channel.source->task_.replayed_;
        return replayed && replayed->waits && Batch::has_less(channel);
    }
    /* Sets do not wait for others any more, since somebody waits for something. */
    void hurry(Lock &lock) PTASK_LOCKED;
    /* Gives GPUs what can be given at once; false if there is nothing. The lock is let go meanwhile. */
    bool go(Lock &lock) PTASK_LOCKED
    {
        const bool any = !direct_.empty();
        if (any)
            go_on(lock);
        return any;
    }
    bool waits_for_go() const PTASK_LOCKED { return !direct_.empty(); }
    /* For the task that stands for a subgraph in the order of tasks; false if it runs by itself. */
    bool attempt(Lock &lock, TaskImpl &task) PTASK_LOCKED;
    void priorities_changed(TaskImpl &task) PTASK_LOCKED;
    /* Takes note of what has ended. */
    bool poll() PTASK_LOCKED;
    /* Sets that GPUs have, or are given. */
    bool is_busy() const PTASK_LOCKED { return flying_ || launching_; }
    /* Whether something else waits for their end. */
    bool is_awaited() const PTASK_LOCKED;
    /* Of the sets that it has. */
    void for_tasks_at(const GraphDevice &graph_device,
                      const std::function<void(const TaskImpl *)> &function) const PTASK_LOCKED;
    /* Whether somebody should look again after a while, though nothing has been announced; and that it was done. */
    bool is_watched() const PTASK_LOCKED { return watched_; }
    void watch() PTASK_LOCKED;
    /* Waits for the sets that devices have, however they end; nobody may begin to launch any more. */
    void settle(Lock &lock) PTASK_LOCKED;
    /* Everything has ended. */
    void close(Lock &lock) PTASK_LOCKED;

    /*
     * As how many runs a set counts at a device, which takes some: what waits can be put in order, what the device has
     * cannot. @seconds: that it is expected to take; @others_first: others may have to go before the next.
     */
    static std::size_t runs_of(std::size_t tasks, double seconds, bool others_first);

    /* What is expected of the task, or, where it stands for a subgraph, of that. */
    static double seconds(const TaskImpl &task) PTASK_LOCKED
    {
        const ReplayedSubgraph *replayed = task.replayed_;
        return replayed && replayed->mode == ReplayedSubgraph::together ? replayed->gpu_seconds
                                                                        : task.run_time_.value();
    }
    static std::uint64_t completed(const TaskImpl &task) PTASK_LOCKED
    {
        return task.replayed_ ? task.replayed_->sets : 0;
    }
    /* In its subgraph, of which the next set is due. */
    static bool is_queued(const TaskImpl &task) PTASK_LOCKED
    {
        const ReplayedSubgraph *replayed = task.replayed_;
        return replayed && replayed->mode == ReplayedSubgraph::together &&
               (replayed->head().queued_ || replayed->waits);
    }
    static bool is_executing(const TaskImpl &task) PTASK_LOCKED
    {
        return task.replayed_ && (task.replayed_->launching || !task.replayed_->flights.empty());
    }

private:
    /*
     * A set is a run for each time that a device takes as long for it, but no more than some, so that the next ones are
     * there when it ends. So a device has some milliseconds to do, which is longer than hosts pause.
     */
    static constexpr double seconds_of_a_run = 64e-6;

    bool is_uniform(const ReplayedSubgraph &replayed) const PTASK_LOCKED;
    static bool fills_devices(const ReplayedSubgraph &replayed);
    static bool has_company(const ReplayedSubgraph &replayed) PTASK_LOCKED;
    bool components_compete() PTASK_LOCKED;
    void halt(ReplayedSubgraph &replayed) PTASK_LOCKED;
    void join(ReplayedSubgraph &replayed) PTASK_LOCKED;
    void separate(ReplayedSubgraph &replayed, std::uint64_t runs) PTASK_LOCKED;
    std::uint64_t first_patience() const PTASK_LOCKED;
    void give_up(ReplayedSubgraph &replayed) PTASK_LOCKED;
    bool has_room(const ReplayedSubgraph &replayed) const PTASK_LOCKED;
    void look_at(ReplayedSubgraph &replayed) PTASK_LOCKED;
    void go_on(Lock &lock) PTASK_LOCKED;
    bool take(ReplayedSubgraph &replayed) PTASK_LOCKED;
    void take_fixed(ReplayedSubgraph &replayed) PTASK_LOCKED;
    static bool has_signals(const ReplayedSubgraph &replayed) PTASK_LOCKED;
    std::size_t choose_device(ReplayedSubgraph &replayed) PTASK_LOCKED;
    void put_back(ReplayedSubgraph &replayed) PTASK_LOCKED;
    void fail(const ReplayedSubgraph &replayed, const GraphDevice &graph_device,
              const std::exception &error) PTASK_LOCKED;
    void pass_on(ReplayedSubgraph &replayed, Replay &replay) PTASK_LOCKED;
    void compare(ReplayedSubgraph &replayed, Seconds took) PTASK_LOCKED;
    bool is_stalled(const ReplayedSubgraph &replayed) const PTASK_LOCKED;
    void wake_watcher() PTASK_LOCKED;

    /* replayer_batch.cpp: several sets at once */
    void make_batch(ReplayedSubgraph &replayed) const PTASK_LOCKED;
    bool may_batch(const ReplayedSubgraph &replayed) PTASK_LOCKED;
    bool waits_for_more(const ReplayedSubgraph &replayed) PTASK_LOCKED;
    void hurry() PTASK_LOCKED;
    static void spread_readers(ReplayedSubgraph &replayed) PTASK_LOCKED;

    /* replayer_launch.cpp: how a set is given to a device */
    void look_for_last(const ReplayedSubgraph &replayed) PTASK_LOCKED;
    static bool is_lone(const ReplayedSubgraph &replayed, std::size_t own_runs) PTASK_LOCKED;
    void note_spared(ReplayedSubgraph &replayed) const PTASK_LOCKED;
    bool is_worth_trying(const ReplayedSubgraph &replayed) const PTASK_LOCKED;
    bool wants_lone_replay(const ReplayedSubgraph &replayed) const PTASK_LOCKED;
    static std::unique_ptr<Replay> make_replay(ReplayedSubgraph &replayed, Replay::Results results);
    static Replay *find_idle_replay(ReplayedSubgraph &replayed);
    static Replay &choose_replay(ReplayedSubgraph &replayed);
    bool has_ahead(ReplayedSubgraph &replayed) PTASK_LOCKED;
    void go_ahead(Lock &lock, ReplayedSubgraph &replayed) PTASK_LOCKED;
    void launch(Lock &lock, ReplayedSubgraph &replayed) PTASK_LOCKED;
    static void decide_double_buffering(ReplayedSubgraph &replayed) PTASK_LOCKED;
    SetQueue &choose_queue(const ReplayedSubgraph &replayed, const GraphDevice &graph_device) PTASK_LOCKED;
    static bool may_share_marker(const ReplayedSubgraph &replayed, SetQueue &queue) PTASK_LOCKED;
    device::Queue *queue_for_results(const ReplayedSubgraph &replayed, const GraphDevice &graph_device) PTASK_LOCKED;
    struct Launched {
        Replay *replay = nullptr;
        std::optional<Seconds> took = {}; /* the host, if that is to be compared */
        bool readers_changed = false;
    };
    Launched launch_replay(Lock &lock, ReplayedSubgraph &replayed, const Flight &flight) PTASK_LOCKED;
    void give(Lock &lock, ReplayedSubgraph &replayed) PTASK_LOCKED;
    void follow_up(ReplayedSubgraph &replayed, const Launched &launched, Flight &&flight) PTASK_LOCKED;
    void finish_launching(ReplayedSubgraph &replayed) PTASK_LOCKED;
    void look_again(ReplayedSubgraph &replayed) PTASK_LOCKED;
    void fly(ReplayedSubgraph &replayed, const Replay &replay, Flight &&flight) PTASK_LOCKED;
    void land_seen(ReplayedSubgraph &replayed, Clock::time_point now) PTASK_LOCKED;
    void ended(ReplayedSubgraph &replayed, Clock::time_point now) PTASK_LOCKED;
    void tried(ReplayedSubgraph &replayed, const Flight &flight) const PTASK_LOCKED;
    static void drop_lone_replays(ReplayedSubgraph &replayed) PTASK_LOCKED;

    Runner &runner_;
    const Lower mode_;
    const MovingCosts moving_;
    const PriorityWeights weights_;
    const std::vector<std::unique_ptr<TaskImpl>> *tasks_ PTASK_GUARDED = nullptr; /* of the graph */
    bool priorities_are_new_ PTASK_GUARDED = true, components_compete_ PTASK_GUARDED = false;
    std::unordered_map<const GraphDevice *, DeviceQueues> queues_ PTASK_GUARDED; /* before the replays that use them */
    std::vector<std::unique_ptr<ReplayedSubgraph>> replayed_ PTASK_GUARDED;
    std::vector<ReplayedSubgraph *> direct_ PTASK_GUARDED; /* whoever has the lock gives their next set to a GPU */
    std::vector<std::vector<DatablockPtr>> spare_ PTASK_GUARDED;
    Run probe_ PTASK_GUARDED; /* by which a device is chosen */
    std::size_t flying_ PTASK_GUARDED = 0, launching_ PTASK_GUARDED = 0;
    std::uint64_t flown_ PTASK_GUARDED = 0;       /* sets that were given so far */
    Clock::time_point looked_ PTASK_GUARDED = {}; /* for what has ended */
    bool watched_ PTASK_GUARDED = false;
    std::condition_variable landed_; /* nobody launches */
    /* For the devices of subgraphs that have several. They go first, since they use the rest. */
    std::unordered_map<const GraphDevice *, LaunchThread> launch_threads_;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_REPLAY_REPLAYER_HPP */
