/* SPDX-License-Identifier: MIT */
/*
 * PTask (SOSP'11): a graph of tasks for accelerators and the host. A task runs when each of its input ports has a
 * datablock; data moves where it is needed by itself, and only then. The scheduler of a graph is one thread.
 *
 *	Graph graph;
 *	auto matrix = Template::of<float>(n, n);
 *	std::vector ports = {in("a", matrix), in("b", matrix), out("c", matrix), value("n", sizeof(unsigned))};
 *	Task &ab = graph.cuda("A x B", {"gemm.cubin", "matmul"}, ports);
 *	...
 *	Input &a = graph.input(ab["a"]);
 *	graph.connect(ab["c"], abc["a"]);
 *	Output &result = graph.output(abc["c"]);
 *	graph.run();
 *	a.push(Datablock::of(std::span(values)));
 *	std::span<const float> c = result.pull()->as<float>();
 *
 * What is wrong with a graph is said by an exception, with the names of both ends, when the two are put together, or by
 * run(), before anything is started. Objects belong to the graph and live as long.
 */
#ifndef PTSCHED_PTASK_PTASK_HPP
#define PTSCHED_PTASK_PTASK_HPP

#include "datablock.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ptsched::ptask {

using device::Datablock;
using device::DatablockPtr;
using device::Error;
using device::Geometry;
using device::HostFunction;

/* The form of a datablock: up to three dimensions of records of @stride bytes. */
struct Template {
    std::array<std::size_t, 3> dimensions{1, 1, 1};
    std::size_t stride = 1;

    template <typename T> static Template of(std::size_t x, std::size_t y = 1, std::size_t z = 1)
    {
        return {{x, y, z}, sizeof(T)};
    }
    std::size_t records() const { return dimensions[0] * dimensions[1] * dimensions[2]; }
    std::size_t bytes() const { return records() * stride; }
    bool operator==(const Template &) const = default;
};

enum class PortKind {
    input,  /* takes a datablock for each run */
    output, /* gives one for each run */
    sticky, /* keeps its datablock until another comes */
};

struct PortOptions {
    std::string name;
    PortKind kind;
    Template form;
    bool by_value = false; /* the kernel's parameter is the content, not its address */
};

PortOptions in(std::string name, Template form);
PortOptions out(std::string name, Template form);
PortOptions sticky(std::string name, Template form);
/* A sticky port for a parameter of @bytes that is passed by value. */
PortOptions value(std::string name, std::size_t bytes);

struct Kernel {
    std::string module, function;
    /* Without one: a thread for each record of the first output. */
    std::optional<Geometry> geometry = {};
};

/* A kernel as text. */
struct Source {
    std::string text, function;
    /* As a kernel's. */
    std::optional<Geometry> geometry = {};
};

/* What a task does at the moment. */
enum class State {
    waiting,   /* for datablocks, or for room where its outputs go */
    queued,    /* for the scheduler */
    executing, /* at least one run has been given to a device */
    completed, /* all runs so far have ended, and nothing is there for another */
};

class Graph;
class Task;
struct Channel;

class Port {
public:
    const PortOptions &options() const { return options_; }
    /* "task.port" */
    std::string full_name() const;

private:
    friend class Graph;
    friend class Task;
    friend class Scheduler;
    Port(Task &task, PortOptions options) : task_(task), options_(std::move(options)) {}

    Task &task_;
    PortOptions options_;
    std::vector<Channel *> channels_; /* one for an input */
    DatablockPtr kept_;               /* sticky: the graph's lock */
};

class Task {
public:
    ~Task();
    const std::string &name() const { return name_; }
    /* The port of that name; throws Error with the names that there are. */
    Port &operator[](const std::string &port);
    State state() const;
    /* Runs that have ended. */
    std::uint64_t completed() const;
    /* Among the tasks that could run, the highest is taken; each second of waiting counts as one step. */
    void set_priority(int priority);

private:
    friend class Graph;
    friend class Scheduler;
    friend class Port;
    Task(Graph &graph, std::string name, const std::vector<PortOptions> &ports);

    Graph &graph_;
    std::string name_;
    std::vector<std::unique_ptr<Port>> ports_; /* in the order of the parameters */
    std::vector<device::Device *> devices_;    /* that can run it, with its code for each */
    std::vector<std::unique_ptr<device::Code>> codes_;
    Geometry geometry_;
    bool on_host_ = false;
    /* the graph's lock */
    int priority_ = 0;
    bool queued_ = false;
    unsigned running_ = 0;
    std::uint64_t completed_ = 0;
};

using Timeout = std::optional<std::chrono::nanoseconds>; /* none: for ever */

/* Where datablocks enter a graph. Any thread may push. */
class Input {
public:
    /*
     * Blocks while the channel is full. False when @timeout has passed or the graph was stopped, and the block is not
     * in; throws Error if the graph has failed, or if the block does not fit the port.
     */
    bool push(DatablockPtr block, Timeout timeout = {});
    template <typename T> bool push_value(const T &value) { return push(Datablock::of(&value, sizeof(value))); }

private:
    friend class Graph;
    explicit Input(Channel &channel) : channel_(channel) {}
    Channel &channel_;
};

/* Where datablocks leave a graph. Any thread may pull. */
class Output {
public:
    /*
     * Blocks until there is one; its content may still be on its way, which as() and read() wait for. Null when
     * @timeout has passed, or the graph was stopped and the channel is empty; throws Error if the graph has failed.
     */
    DatablockPtr pull(Timeout timeout = {});

private:
    friend class Graph;
    explicit Output(Channel &channel) : channel_(channel) {}
    Channel &channel_;
};

class Scheduler;

class Graph {
public:
    static constexpr std::size_t default_capacity = 16;

    Graph();
    /* Stops it. */
    ~Graph();
    Graph(const Graph &) = delete;
    Graph &operator=(const Graph &) = delete;

    /* A kernel; parameters are the ports in their order. Throws Error without GPU, module or kernel. */
    Task &cuda(const std::string &name, const Kernel &kernel, const std::vector<PortOptions> &ports);
    /* A kernel of CUDA C++, where NVRTC is installed. */
    Task &cuda_source(const std::string &name, const Source &source, const std::vector<PortOptions> &ports);
    /* A kernel of OpenCL C. Throws Error without a device, or with what the compiler says. */
    Task &opencl(const std::string &name, const Source &source, const std::vector<PortOptions> &ports);
    /* A function of the addresses of the ports' contents in their order. */
    Task &host(const std::string &name, HostFunction function, const std::vector<PortOptions> &ports);

    /* Room for @capacity datablocks between an output and an input, in order; one output may feed many inputs. */
    void connect(Port &from, Port &to, std::size_t capacity = default_capacity);
    Input &input(Port &to, std::size_t capacity = default_capacity);
    Output &output(Port &from, std::size_t capacity = default_capacity);

    /* Starts the scheduler. Throws Error for a port without a channel. Nothing can be added after it. */
    void run();
    /*
     * Nothing is begun any more, and everybody who blocks in push or pull returns. Blocks until what runs has ended.
     * What is in the channels stays there to be pulled.
     */
    void stop();

private:
    friend class Input;
    friend class Output;
    friend class Task;
    using MakeCode = std::function<std::unique_ptr<device::Code>(device::Device &)>;
    Task &add(std::unique_ptr<Task> task);
    Task &add_kernel(const std::string &name, const std::string &function, const std::vector<device::Device *> &devices,
                     const MakeCode &make, const std::optional<Geometry> &geometry,
                     const std::vector<PortOptions> &ports);
    Channel &open(Port *from, Port *to, std::size_t capacity);
    static bool reaches(const Task &from, const Task &to);
    void check_complete() const;

    std::vector<std::unique_ptr<Task>> tasks_;
    std::vector<std::unique_ptr<Channel>> channels_;
    std::vector<std::unique_ptr<Input>> inputs_;
    std::vector<std::unique_ptr<Output>> outputs_;
    std::unique_ptr<Scheduler> scheduler_;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_PTASK_HPP */
