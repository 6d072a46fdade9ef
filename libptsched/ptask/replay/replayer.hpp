/* SPDX-License-Identifier: MIT */
/*
 * Parts of a graph that a GPU is given as one: when a part has run in the same way some times, its tasks come to a halt
 * between two sets of blocks, and from then on whoever brings the last block of a set gives all of it to the GPU, or,
 * where there are several, to the thread that works for the one chosen; short sets go several at once where many
 * results wait to be taken. What a program cannot do, a signal for one, or a set of which something runs before the
 * rest has come, its tasks do again by themselves.
 */
#ifndef PTSCHED_PTASK_REPLAY_REPLAYER_HPP
#define PTSCHED_PTASK_REPLAY_REPLAYER_HPP

#include "libptsched/ptask/devices/graph_devices.hpp"
#include "libptsched/ptask/replay/batch.hpp"
#include "libptsched/ptask/replay/comparison.hpp"
#include "libptsched/ptask/replay/double_buffering.hpp"
#include "libptsched/ptask/replay/launch_thread.hpp"

#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <unordered_map>

namespace ptsched::ptask {

class Scheduler;
class Timeline;

/* Of a place. */
struct PlaceQueues {
    std::deque<SetQueue> for_sets;
    std::unique_ptr<device::Queue> for_results; /* of sets in pairs */
};

/* A set of blocks, or a batch of sets, that a queue has. */
struct Flight {
    const Slot *slot = nullptr;
    Slot::Moved moved = {};
    SetQueue *queue = nullptr;
    Place *place = nullptr;
    device::MarkerPtr marker;
    std::vector<DatablockPtr> held; /* until its end */
    Clock::time_point began;
    double seconds = 0;        /* that it was expected to take */
    std::size_t counts_as = 0; /* runs, at the place */
    std::size_t sets = 1;
    double share = 0;                     /* of the place's time, when it began */
    std::uint64_t number = 0;             /* of all sets of the graph */
    bool is_lone = false;                 /* in such a slot */
    std::unique_ptr<device::Watch> watch; /* of the trial */
};

/* A part, and how it runs at the moment. */
struct Lowered {
    enum Mode {
        apart,    /* its tasks run by themselves */
        halting,  /* until each has run as often as the others */
        together, /* in sets */
    };

    Part part;
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
    std::size_t where = 0;           /* of the head's places, for that set */
    double expected = 0;             /* seconds that this place is expected to need for it */
    std::size_t counts_as = 0;       /* runs, there */
    std::uint64_t parts_for = 0;     /* afterwards its tasks run by themselves at least that often; 0: they do not */
    std::uint64_t sets = 0;          /* that have ended */
    std::uint64_t sets_before = 0;   /* they were together the last time */
    unsigned given = 0;              /* sets, and how many of them were compared with their tasks by themselves */
    unsigned compared = 0;
    double gpu_seconds = 0;   /* that a device works for a set: at first, for its tasks by themselves */
    double least_seconds = 0; /* that the host needed to give one of those compared */
    PartSet set = {};         /* the one that is launched, or was the last */
    std::vector<std::list<std::unique_ptr<Slot>>> slots = {}; /* by place; those used last come last */
    /*
     * By place: for a set while the place has nothing else. A kernel that writes a result once and never reads it may
     * do that in the host's memory, so that nobody has to copy it; of others this would take long, and while there is
     * more to do it keeps a device from that. So lone sets are given in both ways at first, again when others are read
     * than before.
     */
    std::vector<std::unique_ptr<Slot>> lone_slots = {};
    Trial lone_trial = {};
    double spared_seconds = 0;    /* that copies to the host take, without which a lone set may do */
    unsigned overtaken = 0;       /* of its sets in a row, by the next ones */
    bool wants_lone_slot = false; /* for the set at hand, unless inputs have gone ahead to another */
    /* Of sets one after another, where that may be worth it. */
    std::unique_ptr<Batch> batch = {};
    bool may_batch = true; /* none could not be given, as for lack of memory */
    bool is_batch = false; /* what is at hand */
    bool waits = false;    /* there is a set, which waits until there are enough for a batch */
    bool hurries = false;  /* until there is none: none does */
    bool stays = false;    /* the last one needed nothing from elsewhere */
    bool may_pair = false; /* each of its kernels fills a device, and results come at the end */
    InPairs in_pairs = {};
    Ring<Flight> flights = {};
    bool moved = false;   /* blocks to it or from it, since the last look */
    unsigned stalled = 0; /* looks at it that found a set that something is missing of, and nothing else to do */

    TaskImpl &head() const { return *part.tasks.front(); }
    /* What is at hand. */
    const Part &part_at_hand() const { return is_batch ? batch->part : part; }
    PartSet &set_at_hand() { return is_batch ? batch->set : set; }
    std::size_t sets_at_hand() const { return is_batch ? Batch::sets : 1; }
    std::list<std::unique_ptr<Slot>> &slots_at_hand() { return is_batch ? batch->slots : slots[where]; }
    template <typename Function> void for_slots(Function function) const
    {
        for (const auto &some : slots)
            for (const auto &slot : some)
                function(*slot);
        for (const auto &slot : lone_slots)
            if (slot)
                function(*slot);
        if (batch)
            std::ranges::for_each(batch->slots, [&](const auto &slot) { function(*slot); });
    }
};

/* All of it under the scheduler's lock. */
class Lowering {
public:
    using Lock = std::unique_lock<std::mutex>;

    Lowering(Scheduler &scheduler, const GraphOptions &options);
    ~Lowering();

    void start(const std::vector<std::unique_ptr<TaskImpl>> &tasks);
    /* Whether a task may run by itself: it has what it needs. */
    static bool lets(const TaskImpl &task)
    {
        const Lowered *part = task.lowered_;
        return !part || part->mode == Lowered::apart || (part->mode == Lowered::halting && task.begun_ < part->until);
    }
    /* One has run by itself, which took the host that long; with @odd, as no program could. */
    void ran(TaskImpl &task, Seconds took, bool odd);
    /* Something has come to a task of a part, or was taken from one. */
    void came(const Channel &channel);
    void left(Lowered &part);
    /* Whether it is to be told that something was taken there, though there was room before. */
    static bool waits_for(const Channel &channel)
    {
        const Lowered *part = channel.source->task_.lowered_;
        return part && part->waits && Batch::has_less(channel);
    }
    /* Sets do not wait for others any more, since somebody waits for something. */
    void hurry(Lock &lock);
    /* Gives GPUs what can be given at once; false if there is nothing. The lock is let go meanwhile. */
    bool go(Lock &lock)
    {
        const bool any = !direct_.empty();
        if (any)
            go_on(lock);
        return any;
    }
    bool waits_for_go() const { return !direct_.empty(); }
    /* For the task that stands for a part in the order of tasks; false if it runs by itself. */
    bool attempt(Lock &lock, TaskImpl &task);
    void priorities_changed(TaskImpl &task);
    /* Takes note of what has ended. */
    bool poll();
    /* Sets that GPUs have, or are given. */
    bool is_busy() const { return flying_ || launching_; }
    /* Whether something else waits for their end. */
    bool is_awaited() const;
    /* Of the sets that it has. */
    void for_tasks_at(const Place &place, const std::function<void(const TaskImpl *)> &function) const;
    /* Whether somebody should look again after a while, though nothing has been announced; and that it was done. */
    bool is_watched() const { return watched_; }
    void watch();
    /* Waits for the sets that devices have, however they end; nobody may begin to launch any more. */
    void settle(Lock &lock);
    /* Everything has ended. */
    void close(Lock &lock);

    /*
     * As how many runs a set counts at a place, which takes some: what waits can be put in order, what the place has
     * cannot. @seconds: that it is expected to take; @others_first: others may have to go before the next.
     */
    static std::size_t runs_of(std::size_t tasks, double seconds, bool others_first);

    /* What is expected of the task, or, where it stands for a part, of that. */
    static double seconds(const TaskImpl &task)
    {
        const Lowered *part = task.lowered_;
        return part && part->mode == Lowered::together ? part->gpu_seconds : task.run_time_.value();
    }
    static std::uint64_t completed(const TaskImpl &task) { return task.lowered_ ? task.lowered_->sets : 0; }
    /* In its part, of which the next set is due. */
    static bool is_queued(const TaskImpl &task)
    {
        const Lowered *part = task.lowered_;
        return part && part->mode == Lowered::together && (part->head().queued_ || part->waits);
    }
    static bool is_executing(const TaskImpl &task)
    {
        return task.lowered_ && (task.lowered_->launching || !task.lowered_->flights.empty());
    }

private:
    /*
     * A set is a run for each time that a device takes as long for it, but no more than some, so that the next ones are
     * there when it ends. So a device has some milliseconds to do, which is longer than hosts pause.
     */
    static constexpr double seconds_of_a_run = 64e-6;

    bool is_uniform(const Lowered &part) const;
    static bool fills_devices(const Lowered &part);
    static bool has_company(const Lowered &part);
    bool parts_compete();
    void halt(Lowered &part);
    void join(Lowered &part);
    void separate(Lowered &part, std::uint64_t runs);
    std::uint64_t first_patience() const;
    void give_up(Lowered &part);
    bool has_room(const Lowered &part) const;
    void look_at(Lowered &part);
    void go_on(Lock &lock);
    bool take(Lowered &part);
    void take_fixed(Lowered &part);
    static bool has_signals(const Lowered &part);
    std::size_t choose_place(Lowered &part);
    void put_back(Lowered &part);
    void fail(const Lowered &part, const Place &place, const std::exception &error);
    void pass_on(Lowered &part, Slot &slot);
    void compare(Lowered &part, Seconds took);
    bool is_stalled(const Lowered &part) const;
    void wake_watcher();

    /* replayer_batch.cpp: several sets at once */
    void make_batch(Lowered &part) const;
    bool may_batch(const Lowered &part);
    bool waits_for_more(const Lowered &part);
    void hurry();
    static void spread_readers(Lowered &part);

    /* replayer_launch.cpp: how a set is given to a device */
    void look_for_last(const Lowered &part);
    static bool is_lone(const Lowered &part, std::size_t own_runs);
    void note_spared(Lowered &part) const;
    bool is_worth_trying(const Lowered &part) const;
    bool wants_lone_slot(const Lowered &part) const;
    static std::unique_ptr<Slot> make_slot(Lowered &part, Slot::Results results);
    static Slot *find_idle_slot(Lowered &part);
    static Slot &choose_slot(Lowered &part);
    bool has_ahead(Lowered &part);
    void go_ahead(Lock &lock, Lowered &part);
    void launch(Lock &lock, Lowered &part);
    static void pair_up(Lowered &part);
    SetQueue &choose_queue(const Lowered &part, const Place &place);
    static bool may_share_marker(const Lowered &part, SetQueue &queue);
    device::Queue *queue_for_results(const Lowered &part, const Place &place);
    struct Launched {
        Slot *slot = nullptr;
        std::optional<Seconds> took = {}; /* the host, if that is to be compared */
        bool readers_changed = false;
    };
    Launched launch_in_slot(Lock &lock, Lowered &part, const Flight &flight);
    void give(Lock &lock, Lowered &part);
    void follow_up(Lowered &part, const Launched &launched, Flight &&flight);
    void finish_launching(Lowered &part);
    void look_again(Lowered &part);
    void fly(Lowered &part, const Slot &slot, Flight &&flight);
    void land_seen(Lowered &part, Clock::time_point now);
    void ended(Lowered &part, Clock::time_point now);
    void tried(Lowered &part, const Flight &flight) const;
    static void drop_lone_slots(Lowered &part);

    Scheduler &scheduler_;
    const Lower mode_;
    const MovingCosts moving_;
    const std::vector<std::unique_ptr<TaskImpl>> *tasks_ = nullptr; /* of the graph */
    bool priorities_are_new_ = true, parts_compete_ = false;
    std::unordered_map<const Place *, PlaceQueues> queues_; /* before the slots that use them */
    std::vector<std::unique_ptr<Lowered>> parts_;
    std::vector<Lowered *> direct_; /* whoever has the lock gives their next set to a GPU */
    std::vector<std::vector<DatablockPtr>> spare_;
    Run probe_; /* by which a place is chosen */
    std::size_t flying_ = 0, launching_ = 0;
    std::uint64_t flown_ = 0;       /* sets that were given so far */
    Clock::time_point looked_ = {}; /* for what has ended */
    bool watched_ = false;
    std::condition_variable landed_; /* nobody launches */
    /* For the places of parts that have several. They go first, since they use the rest. */
    std::unordered_map<const Place *, Launcher> launchers_;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_REPLAY_REPLAYER_HPP */
