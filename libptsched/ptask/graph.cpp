// SPDX-License-Identifier: MIT
#include "parameters.hpp"
#include "scheduler.hpp"

#include <algorithm>
#include <set>

namespace ptsched::ptask {

namespace {

std::string describe(const Template &form)
{
    const auto &d = form.dimensions;
    return std::to_string(d[0]) + " x " + std::to_string(d[1]) + " x " + std::to_string(d[2]) + " records of " +
           std::to_string(form.stride) + " bytes";
}

unsigned blocks_for(std::size_t records, unsigned threads)
{
    return static_cast<unsigned>((records + threads - 1) / threads);
}

std::vector<Parameter> parameters_of(const std::vector<PortOptions> &ports)
{
    std::vector<Parameter> given;
    for (const PortOptions &port : ports)
        given.push_back({port.name, port.by_value ? port.form.bytes() : sizeof(device::Address)});
    return given;
}

/* A thread for each record. */
Geometry geometry_of(const std::string &task, const std::vector<PortOptions> &ports)
{
    auto output =
        std::find_if(ports.begin(), ports.end(), [](const PortOptions &port) { return port.kind == PortKind::output; });
    if (output == ports.end())
        throw Error("task " + task + " has no output to take its geometry from: name one");
    const auto &d = output->form.dimensions;
    Geometry geometry;
    if (d[1] * d[2] == 1)
        geometry.block = {256, 1, 1};
    else
        geometry.block = {16, 16, 1};
    geometry.grid = {blocks_for(d[0], geometry.block.x), blocks_for(d[1], geometry.block.y), blocks_for(d[2], 1)};
    return geometry;
}

} // namespace

PortOptions in(std::string name, Template form)
{
    return {std::move(name), PortKind::input, form};
}

PortOptions out(std::string name, Template form)
{
    return {std::move(name), PortKind::output, form};
}

PortOptions sticky(std::string name, Template form)
{
    return {std::move(name), PortKind::sticky, form};
}

PortOptions value(std::string name, std::size_t bytes)
{
    return {std::move(name), PortKind::sticky, {{1, 1, 1}, bytes}, true};
}

std::string Port::full_name() const
{
    return task_.name() + "." + options_.name;
}

Task::Task(Graph &graph, std::string name, const std::vector<PortOptions> &ports)
    : graph_(graph), name_(std::move(name))
{
    std::set<std::string> names;
    for (const PortOptions &port : ports) {
        if (!names.insert(port.name).second)
            throw Error("task " + name_ + " has two ports with the name " + port.name);
        if (!port.form.bytes())
            throw Error("port " + name_ + "." + port.name + " has a form without bytes");
        ports_.emplace_back(new Port(*this, port));
    }
}

Task::~Task() = default;

Port &Task::operator[](const std::string &name)
{
    std::string names;
    for (auto &port : ports_) {
        if (port->options_.name == name)
            return *port;
        names += " " + port->options_.name;
    }
    throw Error("task " + name_ + " has no port " + name + "; its ports are:" + names);
}

State Task::state() const
{
    return graph_.scheduler_->state(*this);
}

std::uint64_t Task::completed() const
{
    return graph_.scheduler_->completed(*this);
}

void Task::set_priority(int priority)
{
    graph_.scheduler_->set_priority(*this, priority);
}

bool Input::push(DatablockPtr block, Timeout timeout)
{
    return channel_.scheduler.push(channel_, std::move(block), timeout);
}

DatablockPtr Output::pull(Timeout timeout)
{
    return channel_.scheduler.pull(channel_, timeout);
}

Graph::Graph() : scheduler_(std::make_unique<Scheduler>()) {}

Graph::~Graph()
{
    stop();
}

Task &Graph::add(std::unique_ptr<Task> task)
{
    if (scheduler_->started())
        throw Error("task " + task->name() + " comes after the graph was run");
    for (const auto &other : tasks_)
        if (other->name() == task->name())
            throw Error("there are two tasks with the name " + task->name());
    return *tasks_.emplace_back(std::move(task));
}

Task &Graph::add_kernel(const std::string &name, const std::string &function,
                        const std::vector<device::Device *> &devices, const MakeCode &make,
                        const std::optional<Geometry> &geometry, const std::vector<PortOptions> &ports)
{
    std::unique_ptr<Task> task(new Task(*this, name, ports));

    task->geometry_ = geometry ? *geometry : geometry_of(name, ports);
    for (device::Device *device : devices) {
        try {
            task->codes_.push_back(make(*device));
        } catch (const Error &error) {
            throw Error("task " + name + ": " + error.what());
        }
        task->devices_.push_back(device);
    }
    check_parameters(name, function, *task->codes_.front(), parameters_of(ports));
    return add(std::move(task));
}

Task &Graph::cuda(const std::string &name, const Kernel &kernel, const std::vector<PortOptions> &ports)
{
    if (device::gpus().empty())
        throw Error("task " + name + " needs a GPU: there is none, or no CUDA driver");
    auto make = [&](device::Device &gpu) { return device::cuda_code(gpu, kernel.module, kernel.function); };
    return add_kernel(name, kernel.function, device::gpus(), make, kernel.geometry, ports);
}

Task &Graph::host(const std::string &name, HostFunction function, const std::vector<PortOptions> &ports)
{
    std::unique_ptr<Task> task(new Task(*this, name, ports));

    if (!function)
        throw Error("task " + name + " has an empty function");
    task->on_host_ = true;
    task->devices_.push_back(&device::host());
    task->codes_.push_back(device::host_code(std::move(function)));
    return add(std::move(task));
}

/* Along channels, from one task to another. */
bool Graph::reaches(const Task &from, const Task &to)
{
    std::set<const Task *> seen;
    std::vector<const Task *> next{&from};

    while (!next.empty()) {
        const Task *task = next.back();
        next.pop_back();
        if (task == &to)
            return true;
        if (!seen.insert(task).second)
            continue;
        for (const auto &port : task->ports_)
            for (const Channel *channel : port->channels_)
                if (channel->source == port.get() && channel->destination)
                    next.push_back(&channel->destination->task_);
    }
    return false;
}

/* Null stands for the world. */
Channel &Graph::open(Port *from, Port *to, std::size_t capacity)
{
    std::string source = from ? from->full_name() : "an input", target = to ? to->full_name() : "an output",
                ends = "cannot connect " + source + " to " + target + ": ";

    if (scheduler_->started())
        throw Error(ends + "the graph was run already");
    if (!capacity)
        throw Error(ends + "a channel needs room for at least one datablock");
    if (from && from->options_.kind != PortKind::output)
        throw Error(ends + source + " is not an output port");
    if (to && to->options_.kind == PortKind::output)
        throw Error(ends + target + " is an output port");
    if (to && !to->channels_.empty())
        throw Error(ends + target + " has a channel already");
    for (const Port *port : {from, to})
        if (port && &port->task_.graph_ != this)
            throw Error(ends + port->full_name() + " belongs to another graph");
    if (from && to && reaches(to->task_, from->task_))
        throw Error(ends + "the first datablock of a cycle would never come");
    if (from && to && from->options_.form != to->options_.form)
        throw Error(ends + source + " gives " + describe(from->options_.form) + ", " + target + " takes " +
                    describe(to->options_.form));
    auto &channel = channels_.emplace_back(new Channel{*scheduler_, from, to, capacity});
    for (Port *port : {from, to})
        if (port)
            port->channels_.push_back(channel.get());
    return *channel;
}

void Graph::connect(Port &from, Port &to, std::size_t capacity)
{
    open(&from, &to, capacity);
}

Input &Graph::input(Port &to, std::size_t capacity)
{
    return *inputs_.emplace_back(new Input(open(nullptr, &to, capacity)));
}

Output &Graph::output(Port &from, std::size_t capacity)
{
    return *outputs_.emplace_back(new Output(open(&from, nullptr, capacity)));
}

void Graph::check_complete() const
{
    if (tasks_.empty())
        throw Error("the graph has no tasks");
    for (const auto &task : tasks_) {
        bool takes = false;
        for (const auto &port : task->ports_) {
            if (port->channels_.empty())
                throw Error("port " + port->full_name() + " has no channel");
            takes = takes || port->options_.kind == PortKind::input;
        }
        if (!takes)
            throw Error("task " + task->name() + " has no input port, and would run for ever");
    }
}

void Graph::run()
{
    if (scheduler_->started())
        throw Error("the graph was run already");
    check_complete();
    scheduler_->start(tasks_);
}

void Graph::stop()
{
    scheduler_->stop();
}

} // namespace ptsched::ptask
