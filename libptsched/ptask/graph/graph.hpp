/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PTASK_GRAPH_GRAPH_HPP
#define PTSCHED_PTASK_GRAPH_GRAPH_HPP

#include "libptsched/ptask/devices/requester.hpp"
#include "libptsched/ptask/graph/channel.hpp"
#include "libptsched/ptask/graph/task.hpp"

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

/* What the insides know of an input; its functions are those of the public one. */
struct InputImpl : Input {
    explicit InputImpl(Channel &channel) : channels_{&channel} {}
    bool send(Item &&item, Timeout timeout, const std::stop_token &stop);
    const PortImpl &port() const;
    Depth depth() const;
    /* As Graph::work_for(). */
    void work_for(const RequesterPtr &requester);

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
    std::optional<Item> take(Timeout timeout, const std::stop_token &stop);
    std::optional<Item> take_before_end(Timeout timeout, const std::stop_token &stop);
    void give_back(Item &&item);
    int descriptor();
    const PortImpl &port() const;
    Depth depth() const;
    /* As Graph::work_for(), unless another process pushes, or was named, and is alive. */
    void work_for(const RequesterPtr &requester);

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

/* What the insides know of a graph; its functions are those of the public one. */
struct GraphImpl {
    static GraphImpl &of(Graph &graph) { return *graph.impl_; }
    static const GraphImpl &of(const Graph &graph) { return *graph.impl_; }
    explicit GraphImpl(const GraphOptions &options);
    ~GraphImpl();
    TaskImpl &cuda(const std::string &name, const Kernel &kernel, const std::vector<PortOptions> &ports);
    TaskImpl &cuda_image(const std::string &name, const Image &image, const std::vector<PortOptions> &ports);
    TaskImpl &cuda_call(const std::string &name, StreamFunction function, const std::vector<PortOptions> &ports);
    TaskImpl &cuda_source(const std::string &name, const Source &source, const std::vector<PortOptions> &ports);
    TaskImpl &opencl(const std::string &name, const Source &source, const std::vector<PortOptions> &ports);
    TaskImpl &kernel(const std::string &name, const DeviceKernel &kernel, const std::vector<PortOptions> &ports);
    TaskImpl &host(const std::string &name, HostFunction function, const std::vector<PortOptions> &ports, Calls calls);
    TaskImpl &callback(const std::string &name, Callback function, const std::vector<PortOptions> &ports, Calls calls);
    void connect(PortImpl &from, PortImpl &to, std::size_t capacity);
    void loop(PortImpl &from, PortImpl &to, PortImpl &again);
    InputImpl &input(PortImpl &to, std::size_t capacity);
    void connect(InputImpl &from, PortImpl &to, std::size_t capacity);
    OutputImpl &output(PortImpl &from, std::size_t capacity);
    void run();
    void stop();
    bool drain(Timeout timeout);
    bool is_stopped() const;
    void work_for(int pidfd);
    std::vector<DeviceCounters> counters() const;
    std::string timeline() const;

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

#endif /* PTSCHED_PTASK_GRAPH_GRAPH_HPP */
