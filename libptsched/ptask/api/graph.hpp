/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PTASK_API_GRAPH_HPP
#define PTSCHED_PTASK_API_GRAPH_HPP

#include "libptsched/ptask/graph/channel.hpp"
#include "libptsched/ptask/graph/task.hpp"
#include <ptsched/device/requester.hpp>

#include <map>
#include <unordered_set>

namespace ptsched::ptask {

class Scheduler;

/* Whether the graph of an input or an output is still there, for programs that keep a reference. */
class Entrance {
public:
    /* As long as this lives, the graph is. Throws Error if it is gone. */
    class Inside {
    public:
        Inside(const Entrance &entrance, const char *which);
        ~Inside() { entrance_.inside_.fetch_sub(1); }
        Inside(const Inside &) = delete;
        Inside &operator=(const Inside &) = delete;

    private:
        const Entrance &entrance_;
    };
    /* Nobody gets in any more; blocks until nobody is inside. */
    void close();

private:
    mutable std::atomic<unsigned> inside_{0};
    std::atomic<bool> closed_{false};
};

/* What the insides know of an input. */
struct InputImpl : Input {
    explicit InputImpl(Channel &channel) : channels_{&channel} {}
    Scheduler &scheduler() const { return channels_.front()->scheduler; }
    /* As Graph::work_for(). */
    void work_for(const device::RequesterPtr &requester);

    Entrance entrance_;
    std::vector<Channel *> channels_;
};

inline InputImpl &impl(Input &input)
{
    return static_cast<InputImpl &>(input);
}

inline const InputImpl &impl(const Input &input)
{
    return static_cast<const InputImpl &>(input);
}

/* The same of an output. */
struct OutputImpl : Output {
    explicit OutputImpl(Channel &channel) : channel_(channel) {}
    Scheduler &scheduler() const { return channel_.scheduler; }
    /* As Graph::work_for(), unless another process pushes, or was named, and is alive. */
    void work_for(const device::RequesterPtr &requester);

    Entrance entrance_;
    Channel &channel_;
};

inline OutputImpl &impl(Output &output)
{
    return static_cast<OutputImpl &>(output);
}

inline const OutputImpl &impl(const Output &output)
{
    return static_cast<const OutputImpl &>(output);
}

/* What the insides know of a graph. */
struct GraphImpl {
    static GraphImpl &of(const Graph &graph) { return *graph.impl_; }
    explicit GraphImpl(const GraphOptions &options);
    ~GraphImpl();
    std::unique_ptr<TaskImpl> make_task(const std::string &name, const std::vector<PortOptions> &ports);
    TaskImpl &add(std::unique_ptr<TaskImpl> task);
    std::shared_ptr<device::Code> code_for(device::Device &device, const DeviceKernel &kernel, bool constants);
    void make_codes(TaskImpl &task, const DeviceKernel &kernel, bool constants);
    TaskImpl &add_host(std::unique_ptr<TaskImpl> task, device::HostFunction function, Calls calls);
    Channel &open(PortImpl *from, PortImpl *to, std::size_t capacity);

    std::vector<device::Device *> gpus_for(const std::string &task) const;

    const int proxy_priority_;
    const std::vector<std::string> device_names_; /* as in the options */
    std::vector<std::unique_ptr<TaskImpl>> tasks_;
    std::unordered_set<std::string> names_;
    std::map<std::pair<device::Device *, std::string>, std::shared_ptr<device::Code>> codes_;
    std::vector<std::unique_ptr<Channel>> channels_;
    std::vector<std::unique_ptr<InputImpl>> inputs_;
    std::vector<std::unique_ptr<OutputImpl>> outputs_;
    std::unique_ptr<Scheduler> scheduler_;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_API_GRAPH_HPP */
