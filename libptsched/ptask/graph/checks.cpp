// SPDX-License-Identifier: MIT
#include "libptsched/ptask/graph/checks.hpp"

#include <algorithm>

namespace ptsched::ptask {

namespace {

std::string between(const PortImpl *from, const PortImpl *to)
{
    return "cannot connect " + (from ? from->full_name() : "an input") + " to " + (to ? to->full_name() : "an output") +
           ": ";
}

} // namespace

/* Where an output's size comes from. */
void Checks::size(const TaskImpl &task, const PortImpl &port)
{
    const PortOptions &options = port.options();
    if (options.size_from.empty()) {
        if (options.kind == PortKind::output && options.form.layout != Layout::fixed)
            throw Error("output " + port.full_name() +
                        " has no fixed size: name the port that says it (sized_by), metadata or an input");
        return;
    }
    const PortImpl *other = task.find(options.size_from);
    if (options.kind != PortKind::output || options.form.layout == Layout::fixed)
        throw Error("port " + port.full_name() + " is sized by " + options.size_from +
                    ": only an output of variable or opaque form can be");
    if (!other || !other->takes() || other == &port)
        throw Error("output " + port.full_name() + " is sized by " + options.size_from +
                    ", which is no input of the task: metadata, an integer or a port of variable form would do");
    if (!other->options().form.is_integer() && other->options().form.layout == Layout::fixed)
        throw Error("output " + port.full_name() + " is sized by " + other->full_name() + ", which has " +
                    other->options().form.describe() + ": one integer of 4 or 8 bytes or a variable form would do");
    if (options.initial)
        throw Error("output " + port.full_name() + " has an initial block and no fixed size: one of them would do");
}

void Checks::port(const TaskImpl &task, const PortImpl &port)
{
    const PortOptions &options = port.options();
    if (options.name.empty())
        throw Error("port " + std::to_string(port.index()) + " of task " + task.name_ +
                    ", counted from 0, has no name");
    if (!options.form.can_be())
        throw Error("port " + port.full_name() + " has " + options.form.describe() + ", which is more than " +
                    std::to_string(Template::most_bytes) + " bytes");
    if (!options.form.bytes())
        throw Error("port " + port.full_name() + " has a form without bytes");
    if (!port.is_parameter() && !options.form.is_integer())
        throw Error("port " + port.full_name() + " has " + options.form.describe() +
                    ": the run-time reads one integer of 4 or 8 bytes");
    if (options.form.binding == Binding::by_value && port.gives())
        throw Error("output " + port.full_name() + " is bound by value: only what is read can be");
    if (options.form.binding == Binding::by_value && options.form.layout != Layout::fixed)
        throw Error("port " + port.full_name() + " is bound by value and has " + options.form.describe() +
                    ": a parameter by value has a fixed form");
    if (options.form.binding == Binding::constant && port.gives())
        throw Error("output " + port.full_name() +
                    " is bound to constant memory: only what is read can be; global would do");
    if (options.initial && !options.form.takes(options.initial->bytes()))
        throw Error("port " + port.full_name() + " takes " + options.form.describe() + ", and its initial block has " +
                    std::to_string(options.initial->bytes()) + " bytes");
    if (options.initial && !options.initial->has_content())
        throw Error("port " + port.full_name() + " has an initial block without content");
    size(task, port);
}

void Checks::task(const TaskImpl &task)
{
    if (task.name_.empty())
        throw Error("a task has no name");
    bool may_be_skipped = std::any_of(task.ports_.begin(), task.ports_.end(),
                                      [](const auto &port) { return port->options().kind == PortKind::condition; });
    for (const auto &port : task.ports_) {
        Checks::port(task, *port);
        if (may_be_skipped && port->options().kind == PortKind::output && !port->options().initial &&
            port->options().form.layout == Layout::fixed)
            throw Error("task " + task.name_ + " has a condition, and nothing for its output " + port->options().name +
                        " when it is skipped: an inout port or an initial block would do");
    }
}

void Checks::kernel(const std::string &task, const DeviceKernel &kernel)
{
    if (kernel.function.empty())
        throw Error("task " + task + " has a kernel without a name");
    const std::string problem = "task " + task + ": kernel " + kernel.function;
    if (!kernel.make)
        throw Error(problem + " has no function that makes its code");
    if (kernel.devices.empty())
        throw Error(problem + " has no device that could run it");
    for (const device::Device *device : kernel.devices)
        if (!device || device == &device::host())
            throw Error(problem + " is for " +
                        (device ? "the host, for which Graph::host() adds tasks" : "a device that is null"));
}

/* Without threads nothing would be launched, as for an output without records, and outputs would be what was there. */
void Checks::given(const std::string &task, const Geometry &geometry)
{
    const device::Extent &grid = geometry.grid, &block = geometry.block;
    if (grid.x && grid.y && grid.z && block.x && block.y && block.z)
        return;
    throw Error("task " + task + " has a geometry without threads: " + describe(grid) + " blocks of " +
                describe(block));
}

void Checks::geometry(const TaskImpl &task, const device::Code &code, const Geometry &geometry, const PortImpl *output)
{
    try {
        code.prepare(geometry);
    } catch (const Error &error) {
        const std::string name = "task " + task.name_;
        throw Error(output ? name + " has threads for " + output->options().form.describe() + " of output " +
                                 output->options().name + ": " + error.what() + "; a geometry of its own would do"
                           : name + ": " + error.what());
    }
}

void Checks::ends(const GraphImpl &graph, bool started, const PortImpl *from, const PortImpl *to, std::size_t capacity)
{
    if (started)
        throw Error(between(from, to) + "the graph was run already");
    if (!capacity)
        throw Error(between(from, to) + "a channel needs room for at least one datablock");
    if (from && !from->gives())
        throw Error(between(from, to) + from->full_name() + " is not an output port");
    if (to && !to->takes())
        throw Error(between(from, to) + to->full_name() + " is an output port");
    for (const PortImpl *port : {from, to})
        if (port && &port->task_.graph_ != &graph)
            throw Error(between(from, to) + port->full_name() + " belongs to another graph");
    if (from && to && !from->options().form.fits(to->options().form))
        throw Error(between(from, to) + from->full_name() + " gives " +
                    from->options().form.describe_beside(to->options().form) + ", " + to->full_name() + " takes " +
                    to->options().form.describe_beside(from->options().form));
}

/* The tasks to which channels lead from there, loops' ends aside; over those that begin with a block, or not. */
std::unordered_set<const TaskImpl *> Checks::reached(const TaskImpl &from, bool over_initial)
{
    std::unordered_set<const TaskImpl *> seen{&from};
    std::vector<const TaskImpl *> next{&from};

    while (!next.empty()) {
        const TaskImpl *task = next.back();
        next.pop_back();
        for (const auto &port : task->ports_)
            for (const Channel *channel : port->to_) {
                const PortImpl *to = channel->destination;
                if (!to || channel->is_loop || (to->options().initial && !over_initial))
                    continue;
                if (seen.insert(&to->task_).second)
                    next.push_back(&to->task_);
            }
    }
    return seen;
}

void Checks::cycle(const PortImpl &from, const PortImpl &to)
{
    if (to.options().initial || !reached(to.task_, false).count(&from.task_))
        return;
    throw Error(between(&from, &to) + "the first datablock of a cycle would never come; an initial block of " +
                to.full_name() + " would do, or a loop");
}

void Checks::loop(const PortImpl &from, const PortImpl &to, const PortImpl &again)
{
    const std::string loop = "cannot loop from " + from.full_name() + " to " + to.full_name() + ": ";
    if (&again.task_ != &from.task_ || !again.gives() || !again.options().form.is_integer())
        throw Error(loop + again.full_name() + " does not say whether it goes on; an output of " + from.task_.name() +
                    " with one integer of 4 or 8 bytes would do");
    if (from.task_.again_ && from.task_.again_ != &again)
        throw Error(loop + "task " + from.task_.name() + " ends loops as " + from.task_.again_->full_name() + " says");
    if (to.loop_)
        throw Error(loop + "a loop begins there already");
    if (to.options().kind != PortKind::input && to.options().kind != PortKind::inout)
        throw Error(loop + "a loop begins at an input or inout port");
    if (to.options().initial)
        throw Error(loop + to.full_name() + " has an initial block, and its first comes from outside the loop");
}

/* One round takes one block of each channel in the loop; what crosses its border must not count rounds. */
void Checks::body(const Channel &loop, const Channels &channels)
{
    const TaskImpl &first = loop.destination->task_, &last = loop.source->task_;
    const std::string name = "the loop from " + loop.source->full_name() + " to " + loop.destination->full_name();
    if (!reached(first, true).count(&last))
        throw Error(name + " has no way from " + first.name() + " to " + last.name());

    /* Of all loops that the task ends: they go round together. */
    std::unordered_set<const TaskImpl *> inside;
    for (const auto &other : channels)
        if (other->is_loop && &other->source->task_ == &last)
            for (const TaskImpl *task : reached(other->destination->task_, true))
                if (!inside.count(task) && reached(*task, true).count(&last))
                    inside.insert(task);
    for (const auto &channel : channels) {
        const PortImpl *from = channel->source, *to = channel->destination;
        if (!from || !to || inside.count(&from->task_) == inside.count(&to->task_))
            continue;
        if (inside.count(&to->task_) && to->options().kind != PortKind::sticky && !to->loop_)
            throw Error(name + " would need a block of " + from->full_name() + " at " + to->full_name() +
                        " in each round; a sticky port would do, or a loop that begins there, too");
        if (inside.count(&from->task_) && &from->task_ != &last)
            throw Error(name + " would give a block of " + from->full_name() + " to " + to->full_name() +
                        " in each round; an output of its last task " + last.name() + " would do");
    }
}

void Checks::complete(const PortImpl &port)
{
    const PortOptions &options = port.options();
    const bool needs_none = options.kind != PortKind::input && port.is_parameter();

    if (port.takes() && !port.from_ && !(options.initial && needs_none))
        throw Error("port " + port.full_name() + " has no channel" + (port.loop_ ? " from outside its loop" : "") +
                    ": one from an output that gives " + options.form.describe() +
                    ", or from an input of the graph, would do" +
                    (needs_none ? ", and so would an initial block" : ""));
    if (options.kind == PortKind::output && port.to_.empty() && &port != port.task_.again_)
        throw Error("port " + port.full_name() + " has no channel: one to a port that takes " +
                    options.form.describe() + ", or to an output of the graph, would do");
}

void Checks::complete(const Tasks &tasks, const Channels &channels)
{
    if (tasks.empty())
        throw Error("the graph has no tasks");
    for (const auto &task : tasks) {
        bool takes = false;
        for (const auto &port : task->ports_) {
            complete(*port);
            takes = takes || (port->from_ && port->options().kind != PortKind::sticky);
        }
        if (!takes)
            throw Error("task " + task->name() + " has no input port with a channel, and would run for ever");
    }
    for (const auto &channel : channels)
        if (channel->is_loop)
            body(*channel, channels);
}

} // namespace ptsched::ptask
