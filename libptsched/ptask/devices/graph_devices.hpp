/* SPDX-License-Identifier: MIT */
/* The devices of a graph and their queues: which of them a run gets. The scheduler's thread has them for itself. */
#ifndef PTSCHED_PTASK_DEVICES_GRAPH_DEVICES_HPP
#define PTSCHED_PTASK_DEVICES_GRAPH_DEVICES_HPP

#include "libptsched/ptask/devices/device_share.hpp"
#include "libptsched/ptask/devices/ready.hpp"
#include "libptsched/ptask/graph/run.hpp"
#include <ptsched/device/host_pool.hpp>
#include <ptsched/device/turns.hpp>

namespace ptsched::ptask {

/* Of the runs of a lane the end of each eighth can be asked for: a marker for each takes time, as does a question. */
constexpr std::size_t runs_for_a_marker = 8;

struct Lane {
    GraphDevice *graph_device;
    Ring<Run *> runs;
    std::size_t given = 0; /* runs so far */
    double share = 0;      /* see share_of(): when the last one ended, or when it got work */
    Clock::time_point last_end;
    std::unique_ptr<device::Queue> queue; /* its end waits for what uses the runs' blocks */
};

struct GraphDevice {
    device::Device *device;
    std::vector<std::unique_ptr<Lane>> lanes;
    unsigned lane_count;
    double strength = 1;  /* the device's */
    std::size_t runs = 0; /* given to its queues and not ended */
    double seconds = 0;   /* that they are expected to take */
    DeviceCounters counts PTASK_GUARDED = {};
    std::unique_ptr<DeviceShare> device_share = {}; /* null: the host */
    std::unique_ptr<device::Turns> turns = {};      /* null: unscheduled */
    /*
     * Lanes and sets of subgraphs that have work share its time, except on the host. One that begins or ends sees how
     * much each had by then: what work takes does not count what it waits for other work of the graph.
     */
    std::size_t sharers = 0;
    double share = 0;
    Clock::time_point shared_at = {};
    /*
     * The host: makes a queue. It has as many lanes as there are tasks with runs at once, and no lane has runs of two:
     * a task's runs come one after the other, and none behind what another waits for.
     */
    std::function<std::unique_ptr<device::Queue>()> make_queue = {};
    device::HostGroupPtr functions = {}; /* what these have */
    std::vector<Lane *> idle = {};       /* of these, those without runs */
    unsigned at_once = 0; /* lanes that are to have runs at once; 0: as many as the host has threads for */
    /* Whether a run may be given to it: one that is about to be, and then, that it was. */
    bool held = true, used = false;
    Clock::time_point measured = {}; /* when events were asked last what a run takes */
    /*
     * A device that ends runs as fast as they come gets them all in one queue: others would not make it faster, and
     * queues that wait for each other take time. Otherwise it gets them in all, at least so many.
     */
    Lane *narrow = nullptr;
    std::size_t least_wide = 0, wide_left = 0;
    std::size_t narrow_looks = 0;

    bool full() const;
    /* So many runs that are expected to take as long have been given to it, and are over. */
    void occupy(std::size_t more, double longer)
    {
        runs += more;
        seconds += longer;
    }
    void vacate(std::size_t fewer, double shorter)
    {
        runs -= fewer;
        seconds = runs ? seconds - shorter : 0;
    }
    /* In seconds; then it has @more sharers. */
    double shared_until(Clock::time_point now, int more);
    bool has_many_functions() const;
    /* Of the host: one without runs. */
    Lane &idle_lane();
    /* Waits for what its lanes have, however that ends. */
    void settle();
    /* Whether a lane of it had ended nearly all that it was given. */
    void keeps_up(Lane &lane, bool yes);
};

/* Whether no other device has a copy, of all that any graph uses. */
bool is_only_on(const Datablock &block, const device::Device &device);
/* Whether another one than the host has, from which it is copied then. */
bool is_on_other(const Datablock &block, const device::Device &device);

class GraphDevices {
public:
    explicit GraphDevices(const GraphOptions &options) : options_(options) {}

    /* Who is told what, by other threads. */
    struct Tell {
        std::function<void()> may_begin; /* a device may be held that could not */
        std::function<void()> ended;     /* something has that a queue was given, as far as it can tell */
        std::function<void()> may_ask;   /* see DeviceShare */
    };
    /* Of the devices of these tasks, for add(). Throws Error if one is to be scheduled, and cannot. */
    std::vector<std::unique_ptr<GraphDevice>> make(const std::vector<std::unique_ptr<TaskImpl>> &tasks,
                                                   const Tell &tell) const;
    void add(std::vector<std::unique_ptr<GraphDevice>> &&graph_devices) { all = std::move(graph_devices); }
    /* For a task with code for these devices, in their order. */
    std::vector<GraphDevice *> of(const std::vector<device::Device *> &devices) const;
    /* Waits for what devices have, however it ends, and gives their turns back: a graph that failed needs none. */
    void quit();
    /* Waits for what the queues have. */
    void close();

    /* Whether a device is used in turns only. */
    bool attached() const;
    /* Nothing is due for a device any more. */
    void rest();
    /* Whether a function of the host, which is called once at a time, has no more runs ahead than are worth it. */
    static bool takes(const TaskImpl &task) PTASK_LOCKED;
    /* Whether no run can be given to the host, or to any other device. */
    bool full(bool host) const;
    /*
     * Those of the task that may be given work now, until let_go() but for the one that a run has begun at; false if
     * there is none.
     */
    bool hold(const TaskImpl &task);
    void let_go(const TaskImpl &task);
    /* Which of those of the task, which are held. */
    std::size_t choose(const Run &run) PTASK_LOCKED;
    static Lane &choose_lane(const Run &run, GraphDevice &graph_device);
    /* A run begins; called before its blocks are moved. */
    void begin(Run &run, Lane &lane) PTASK_LOCKED;
    /* Seconds that the lane's first runs have taken of its device's time, which have all ended @now. */
    static double taken(Lane &lane, Clock::time_point now);
    /* The one that was given first to its lane is over, and has taken @seconds. */
    void end(Run &run, Clock::time_point now, double seconds, Ready &ready) PTASK_LOCKED;

    std::vector<std::unique_ptr<GraphDevice>> all;

private:
    struct Moved {
        std::uint64_t blocks = 0, bytes = 0;
    };

    std::unique_ptr<GraphDevice> make_graph_device(device::Device &device, const Tell &tell) const;
    double cost(const GraphDevice &graph_device, const Moved &moved, double ready) const;
    std::size_t where_it_begins_first(const Run &run) const;
    static Moved missing(const Run &run, const GraphDevice &graph_device);
    void count(Run &run, GraphDevice &graph_device) const PTASK_LOCKED;
    static bool wants_measure(const Run &run, GraphDevice &graph_device);
    double charge(const Run &run) const PTASK_LOCKED;
    /* In seconds. Without that, all that has not run yet would seem to be over at once, and go to one device. */
    double expected(const TaskImpl &task, const GraphDevice &graph_device) const PTASK_LOCKED;

    GraphOptions options_;
    Average run_time_; /* of all that devices have run */
    std::size_t turn_ = 0;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_DEVICES_GRAPH_DEVICES_HPP */
