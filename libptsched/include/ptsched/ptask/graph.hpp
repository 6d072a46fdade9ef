/* SPDX-License-Identifier: MIT */
/*
 * PTask (SOSP'11): a graph of tasks for accelerators and the host. A task runs when each of its input ports has a
 * datablock; data moves where it is needed by itself, and only then. One thread at a time does a graph's work: one that
 * pushes, pulls or has just run a host function, or the graph's own.
 *
 *	Graph graph;
 *	auto matrix = Template::of<float>(n, n);
 *	std::vector ports = {in("a", matrix), in("b", matrix), out("c", matrix), constant("n", n)};
 *	Task &ab = graph.cuda("A x B", {module, "matmul"}, ports);
 *	Task &abc = graph.cuda("A x B x C", {module, "matmul"}, ports);
 *	Input &a = graph.input(ab["a"]), &b = graph.input(ab["b"]), &c = graph.input(abc["b"]);
 *	graph.connect(ab["c"], abc["a"]);
 *	Output &result = graph.output(abc["c"]);
 *	graph.run();
 *	std::vector<float> ones(n * n, 1);
 *	for (Input *input : {&a, &b, &c})
 *		input->push(Datablock::of(ones));
 *	View<float> product = result.pull<float>();
 *
 * What is wrong with a graph is said by an exception, with the names of both ends, when the two are put together, or by
 * run(), before anything is started. Objects belong to the graph and live as long.
 */
#ifndef PTSCHED_PTASK_GRAPH_HPP
#define PTSCHED_PTASK_GRAPH_HPP

#include <ptsched/ptask/arguments.hpp>
#include <ptsched/ptask/options.hpp>
#include <ptsched/ptask/stream_call.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

namespace ptsched::ptask {

struct GraphImpl;

} // namespace ptsched::ptask

#pragma GCC visibility push(default)

namespace ptsched::ptask {

/*
 * A graph stopped because one of its tasks failed. What a function of the host threw is nested: see
 * std::rethrow_if_nested().
 */
class Failure : public Error {
public:
    using Error::Error;
};

struct Kernel {
    std::string module, function;
    /*
     * Without one: threads for the records of the first output, in blocks of 256, or of 16 x 16 for more than one
     * dimension. There may be more threads than records: a kernel looks whether its record exists.
     */
    std::optional<Geometry> geometry = {};
};

/* A kernel as text. */
struct Source {
    std::string text, function;
    /* As a kernel's. */
    std::optional<Geometry> geometry = {};
    /* For CUDA: the compiler's, say "-I/folder" or "-DN=4". C++17 unless they say otherwise. */
    std::vector<std::string> options = {};
    /* For CUDA: names for #include, and what is there. Those that come with CUDA are found where it is installed. */
    std::vector<std::pair<std::string, std::string>> headers = {};
};

/* A kernel in memory: PTX, SASS, a fat binary, or what device::cuda_code_from_image() says. */
struct Image {
    std::span<const std::byte> bytes; /* Graph::cuda_image() alone reads them */
    std::string function;
    /* As a kernel's. */
    std::optional<Geometry> geometry = {};
};
/* One in an array, as a compiler embeds it, or in a string. */
template <std::ranges::contiguous_range Range>
Image image_of(const Range &content, std::string function, const std::optional<Geometry> &geometry = {})
{
    return {std::as_bytes(std::span(std::ranges::data(content), std::ranges::size(content))), std::move(function),
            geometry};
}

/* A kernel for devices of any kind: what Graph::kernel() is given. */
struct DeviceKernel {
    /* Those that can run it, all of one kind and none the host. A device is there for good: see device.hpp. */
    std::vector<device::Device *> devices;
    /* What their queues run. Called by the thread that adds the task; throws Error with the reason. */
    std::function<std::unique_ptr<device::Code>(device::Device &)> make;
    std::string function; /* its name, for errors */
    /* What it is made from: tasks with the same program and function share their code. Empty: the task has its own. */
    std::string program = {};
    /* As a kernel's. */
    std::optional<Geometry> geometry = {};
};

/* What a task does at the moment: an executing one may also wait, say. */
enum class State {
    waiting,   /* for the first datablocks, or the rest of what a run needs, or for room where its outputs go */
    queued,    /* for the scheduler: all that a run needs is there */
    executing, /* at least one run has been given to a device */
    completed, /* all runs so far have ended, and nothing has come for another */
};

/*
 * A datablock with the control signals that travel with it, or these alone. Signals of a run's inputs go to all its
 * outputs. Where one input of a run has a signal without block, the code does not run and its outputs have no blocks. A
 * sticky port that has a block keeps it where a signal comes alone, and the code runs.
 */
struct Item {
    DatablockPtr block = {};
    bool end_of_stream = false;
    std::shared_ptr<const std::string> error = {}; /* what went wrong, or null */

    /* Whether something comes before the end of the stream that it has. */
    bool has_more_than_an_end() const { return end_of_stream && (block || error); }
};

/* What a callback sees of its run. Parameters are counted from 0. */
class Call {
public:
    Call(const Call &) = delete;
    Call &operator=(const Call &) = delete;
    std::size_t parameters() const;
    /* These throw Error for a parameter that there is not, and for an address of what is to be written and must not. */
    template <typename T> T *at(std::size_t parameter) const { return arguments()[parameter]; }
    const void *at(std::size_t parameter) const { return at<const void>(parameter); }
    const Arguments &arguments() const;
    std::size_t bytes(std::size_t parameter) const;
    std::size_t records(std::size_t parameter) const;
    /* To go with the outputs. */
    void end_stream();
    void report(const std::string &error);

protected:
    Call() = default;
    ~Call() = default;
};
using Callback = std::function<void(Call &)>;

/* How often a function of the host may be called at once. */
enum class Calls {
    in_order,   /* once, by one thread or another: the next call begins when the one before has returned */
    concurrent, /* as often as there are threads; what it makes still comes in the order in which runs began */
};

/* Belongs to its graph. */
class Task {
public:
    Task(const Task &) = delete;
    Task &operator=(const Task &) = delete;
    const std::string &name() const;
    /* The port of that name; throws Error with the names that there are. */
    Port &operator[](const std::string &port);
    /* Takes the graph's lock, as what follows does, and may have changed before the caller looks. */
    State state() const;
    /* Runs that have ended, and those of them in which the code was left out. */
    std::uint64_t completed() const;
    std::uint64_t skipped() const;
    /* Those of them in CUDA graphs. */
    std::uint64_t lowered() const;
    /* Among the tasks that could run, the highest is taken; see PriorityWeights. */
    void set_priority(int priority);
    /* Of whoever asked for the work, so that it does not run with the priority of who does it. */
    void set_proxy_priority(int priority);
    /* Of a kernel, before the graph is run; refused if it can have that on none of its devices. */
    void set_geometry(const Geometry &geometry);
    std::vector<Port *> ports() const;
    bool is_on_host() const;
    /* That can run it, until the graph is run: a geometry that one cannot have leaves that out. */
    const std::vector<device::Device *> &devices() const;
    /* Those that cannot, of which there may be some as long as others can: "NAME: why not". */
    const std::vector<std::string> &left_out() const;

protected:
    Task() = default;
    ~Task() = default;
};

using Timeout = std::optional<std::chrono::nanoseconds>; /* none, or more than a year: for ever */

/* How full a channel is; others may change it before the caller looks. */
struct Depth {
    std::size_t blocks = 0;   /* datablocks, or signals, that wait in it */
    std::size_t capacity = 0; /* with how many it is full */
};

/*
 * Where datablocks enter a graph. Any thread may push. When the graph is gone, calls throw Error: of the last few
 * thousand inputs and outputs.
 */
class Input {
public:
    Input(const Input &) = delete;
    Input &operator=(const Input &) = delete;
    /*
     * Blocks while a channel of it is full. False when @timeout has passed or the graph was stopped, and the block is
     * not in; throws Failure if the graph has failed, Error if the block does not fit the port, and instead of waiting
     * for ever for a graph that is not run.
     */
    bool push(DatablockPtr block, Timeout timeout = {});
    /* The same with a value; throws Error if the port is known to take another type. */
    template <typename T> bool push_value(const T &value)
    {
        port().check_type(typeid(T));
        return push(Datablock::of(&value, sizeof(value)));
    }
    /* The same for a block with signals, or signals alone, until @stop. Unless it is in, @item is as before. */
    bool send(Item &&item, Timeout timeout = {}, const std::stop_token &stop = {});
    bool end_stream(Timeout timeout = {}) { return send({nullptr, true}, timeout); }
    const Port &port() const;
    /* Of that of its channels which has least room. */
    Depth depth() const;

protected:
    Input() = default;
    ~Input() = default;
};

/* Where datablocks leave a graph. Any thread may pull. When the graph is gone, calls throw Error, as an input's do. */
class Output {
public:
    Output(const Output &) = delete;
    Output &operator=(const Output &) = delete;
    /*
     * Blocks until there is one; its content may still be on its way, which as() and read() wait for. Null when
     * @timeout has passed, when the graph was stopped and the channel is empty, and once at the end of a stream: where
     * that comes with a block, or with an error, it stays in the channel for the next who pulls, in whichever thread.
     * Throws Error for an item with an error, and drops its block; Failure if the graph has failed; Error instead of
     * waiting for ever for a graph that is not run.
     */
    DatablockPtr pull(Timeout timeout = {});
    /*
     * The content of what comes, on the host: of no block where nothing came. Blocks until it is there; throws Error,
     * too, if the port is known to give another type.
     */
    template <typename T> View<T> pull(Timeout timeout = {})
    {
        port().check_type(typeid(T));
        const DatablockPtr block = pull(timeout);
        return block ? block->as<T>() : View<T>();
    }
    /* The same with the signals, as they are, until @stop; nothing where nothing came. */
    std::optional<Item> take(Timeout timeout = {}, const std::stop_token &stop = {});
    /* The same, but an end of a stream that comes with something is left in the channel, as pull() does. */
    std::optional<Item> take_before_end(Timeout timeout = {}, const std::stop_token &stop = {});
    /* What was taken is again the first that is pulled. */
    void give_back(Item &&item);
    /*
     * To be polled for input, with others: readable while there is something to pull, when the graph has failed, and
     * when it has stopped, which is when nothing comes any more. It stays the output's, is not to be read, and lasts as
     * long as the graph. From the first call on, what is pulled is on the host, so that neither pull() with a timeout
     * of 0 nor read() blocks; throws Error if that call is after run(). Any thread may call it.
     */
    int descriptor();
    const Port &port() const;
    Depth depth() const;

protected:
    Output() = default;
    ~Output() = default;
};

class Graph {
public:
    static constexpr std::size_t default_capacity = 16;

    explicit Graph(const GraphOptions &options = {});
    /* Stops it. */
    ~Graph();
    Graph(const Graph &) = delete;
    Graph &operator=(const Graph &) = delete;

    /*
     * A kernel; parameters are the ports in their order, those aside that are bound to constant memory. Throws Error
     * without GPU, module or kernel.
     */
    Task &cuda(const std::string &name, const Kernel &kernel, const std::vector<PortOptions> &ports);
    /* The same of what is in memory. */
    Task &cuda_image(const std::string &name, const Image &image, const std::vector<PortOptions> &ports);
    /*
     * A function that gives a GPU work itself: with a library, or as it likes. The run is over when the stream has done
     * what it was given. The thread that does the graph's work calls it, one at a time, and waits as long: it must not
     * block, and not use other streams unless they join this one.
     */
    Task &cuda_call(const std::string &name, StreamFunction function, const std::vector<PortOptions> &ports);
    /* A kernel of CUDA C++, where NVRTC is installed. */
    Task &cuda_source(const std::string &name, const Source &source, const std::vector<PortOptions> &ports);
    /* A kernel of OpenCL C. Throws Error without a device, or with what the compiler says. */
    Task &opencl(const std::string &name, const Source &source, const std::vector<PortOptions> &ports);
    /*
     * A kernel of any kind of device, whether this library knows it or not; the others above are made of this. Throws
     * Error without a device, with what made no code for any, or where the ports do not fit the code's parameters. It
     * runs on those devices that can: see Task::left_out().
     */
    Task &kernel(const std::string &name, const DeviceKernel &kernel, const std::vector<PortOptions> &ports);
    /*
     * A function of the addresses of the ports' contents in their order; those of ports that only take are const. It
     * runs in a thread of the library; one that is brief may run in the thread that waits for what it makes. What it
     * throws fails the graph.
     */
    Task &host(const std::string &name, HostFunction function, const std::vector<PortOptions> &ports,
               Calls calls = Calls::in_order);
    /* A function that is to know how much its blocks hold, or to give signals. */
    Task &callback(const std::string &name, Callback function, const std::vector<PortOptions> &ports,
                   Calls calls = Calls::in_order);

    /* Room for @capacity datablocks between an output and an input, in order; one output may feed many inputs. */
    void connect(Port &from, Port &to, std::size_t capacity = default_capacity);
    /*
     * What is at @from goes back to @to, where the loop begins, as long as the integer at @again is not 0, an output of
     * the task of @from; only then it goes to the other channels of that task. The next block enters at @to when the
     * one before has left.
     */
    void loop(Port &from, Port &to, Port &again);
    Input &input(Port &to, std::size_t capacity = default_capacity);
    /* What is pushed to @from goes to @to, too, when there is room in all its channels. */
    void connect(Input &from, Port &to, std::size_t capacity = default_capacity);
    Output &output(Port &from, std::size_t capacity = default_capacity);

    /*
     * Starts the scheduler. Throws Error for a port without a channel, and then can be called again. Nothing can be
     * added after it. A graph is run once: of two threads, one gets an Error, as does who runs one that was stopped.
     */
    void run();
    /*
     * Nothing is begun any more, and everybody who blocks in push or pull returns. Blocks until what runs has ended, as
     * it does for others who call it. What is in the channels stays there to be pulled. A graph that is stopped before
     * it is run does not run. Throws Error in a function of the graph, which must not destroy it either.
     */
    void stop();
    /*
     * Blocks until all that was pushed has gone through the graph, into its outputs: what lacks another input does not
     * count, and for what lacks room in an output it waits until somebody pulls. False when @timeout has passed or the
     * graph was stopped before; throws Failure if it has failed, Error before it is run and in a function of it.
     */
    bool drain(Timeout timeout = {});
    /* Whether somebody has called stop(), which may not be over yet. */
    bool is_stopped() const;
    /*
     * From the next turn on, the graph's work is scheduled by ptsched under the weight of the process of @pidfd, and
     * charged to it, as far as ptsched allows that (see PTSCHED_IOC_ACT_FOR); -1: of this process again. A graph that
     * is served works for the other process that pushed last, or if none does and none is named, pulled last.
     */
    void work_for(int pidfd);
    /* What was done so far, for each device that the graph uses. */
    std::vector<DeviceCounters> counters() const;
    /* With GraphOptions::timeline: what was done when, in a form that Perfetto and Chrome show; else empty. */
    std::string timeline() const;
    /* In the order in which they were made. */
    std::vector<Task *> tasks() const;

private:
    friend struct GraphImpl;
    const std::unique_ptr<GraphImpl> impl_;
};

} // namespace ptsched::ptask

#pragma GCC visibility pop

#endif /* PTSCHED_PTASK_GRAPH_HPP */
