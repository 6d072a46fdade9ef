/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PTASK_GRAPH_TASK_HPP
#define PTSCHED_PTASK_GRAPH_TASK_HPP

#include "libptsched/base/ring.hpp"
#include "libptsched/ptask/graph/graph_lock.hpp"
#include "libptsched/ptask/graph/port.hpp"
#include "libptsched/ptask/time/averages.hpp"

namespace ptsched::ptask {

struct GraphImpl;
struct Run;
struct GraphDevice;
struct Lane;
struct ReplayedSubgraph;
class Constants;

/* What the insides know of a task. What they ask often is inline, and hides the public function. */
struct alignas(64) TaskImpl : Task {
    TaskImpl(GraphImpl &graph, std::string name, const std::vector<PortOptions> &ports);
    ~TaskImpl();
    const std::string &name() const { return name_; }
    const std::vector<std::unique_ptr<PortImpl>> &ports() const { return ports_; }
    bool is_on_host() const { return on_host_; }
    PortImpl *find(const std::string &port) const;
    /* As long as it has not waited. */
    double priority(const PriorityWeights &weights) const PTASK_LOCKED
    {
        return priority_ + weights.proxy * proxy_priority_;
    }
    void set_shape(const DeviceKernel &kernel);
    void use_geometry(const Geometry &geometry);
    void leave_out_unfit(const Geometry &geometry, const PortImpl *output);
    void make_constants(const std::string &kernel);

    /* What each run uses is in front. */
    std::vector<std::unique_ptr<PortImpl>> ports_; /* in the order of the parameters */
    bool queued_ PTASK_GUARDED = false;
    bool on_host_ = false;
    bool concurrent_ = false; /* a function of the host that may be called several times at once */
    bool has_call_ = false;
    bool has_sizes_ = false; /* of outputs, that other ports say */
    bool outer_ = false;     /* something that it gives leaves the graph, or is read by the run-time */
    unsigned running_ PTASK_GUARDED = 0;
    unsigned in_lane_ = 0; /* runs that queues have; the scheduler's thread */
    Lane *lane_ = nullptr; /* which has them, of a function of the host that is called in order */
    int priority_ PTASK_GUARDED = 0;
    int proxy_priority_ PTASK_GUARDED = 0;
    unsigned followers_ = 0;         /* how often what it gives is taken */
    Average run_time_ PTASK_GUARDED; /* in seconds */
    Least kernel_time_;              /* the same as the device tells it now and then; the scheduler's thread */
    std::vector<std::shared_ptr<device::Code>> codes_;
    std::vector<std::unique_ptr<Constants>> constants_; /* one for each of its codes, or none */
    std::vector<GraphDevice *> graph_devices_;          /* one for each of its devices */
    const PortImpl *shape_ = nullptr; /* the output of variable size for whose records there are to be threads */
    const PortImpl *again_ = nullptr; /* the output that says whether the loop goes on that ends with the task */
    Geometry geometry_;
    std::uint64_t completed_ PTASK_GUARDED = 0, skipped_ PTASK_GUARDED = 0;
    std::size_t component_ PTASK_GUARDED = 0;            /* of the graph, of the tasks that channels join */
    double charge_ PTASK_GUARDED = 0;                    /* what its next run counts for the component */
    std::uint64_t begun_ PTASK_GUARDED = 0;              /* runs by itself */
    ReplayedSubgraph *replayed_ PTASK_GUARDED = nullptr; /* which it may be given to a GPU with */
    Ring<Run *> undelivered_ PTASK_GUARDED;              /* whose outputs come when they are written, in this order */
    GraphImpl &graph_;
    std::string name_;
    std::vector<device::Device *> devices_; /* that can run it, with its code for each */
    std::vector<std::string> left_out_;
};

inline TaskImpl &impl(Task &task)
{
    return static_cast<TaskImpl &>(task);
}

inline const TaskImpl &impl(const Task &task)
{
    return static_cast<const TaskImpl &>(task);
}

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_GRAPH_TASK_HPP */
