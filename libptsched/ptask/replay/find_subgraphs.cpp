// SPDX-License-Identifier: MIT
#include "libptsched/ptask/replay/find_subgraphs.hpp"

#include "libptsched/ptask/graph/sets.hpp"
#include "libptsched/ptask/replay/subgraph_order.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace ptsched::ptask {

namespace {

/* Of a task alone the driver knows all, unless it has several blocks to move: a set's are copied while others run. */
constexpr std::size_t fewest_tasks = 2;
constexpr std::ptrdiff_t fewest_blocks = 3;

} // namespace

/* Nothing that is read on the host for each run, and nothing that comes back. */
bool Subgraphs::fits(const PortImpl &port)
{
    const PortOptions &options = port.options();
    auto ends_loop = [](const Channel *channel) { return channel->is_loop; };

    if (!port.is_parameter() || port.is_variable() || options.form.layout != Layout::fixed || port.size_ ||
        port.loop_ || std::any_of(port.to_.begin(), port.to_.end(), ends_loop))
        return false;
    if (options.kind == PortKind::sticky)
        return true;
    return !port.read_ && !(port.from_ && options.initial);
}

bool Subgraphs::fits(const TaskImpl &task)
{
    return !task.on_host_ && !task.again_ && !task.shape_ &&
           std::all_of(task.devices_.begin(), task.devices_.end(),
                       [](auto *device) { return device->has_programs(); }) &&
           std::all_of(task.codes_.begin(), task.codes_.end(),
                       [](const auto &code) { return code->fits_programs(); }) &&
           std::all_of(task.ports_.begin(), task.ports_.end(), [](const auto &port) { return fits(*port); });
}

bool Subgraphs::is_worth_it(const std::vector<TaskImpl *> &tasks)
{
    auto goes_to_program = [](const Channel *channel) { return !channel->destination; };
    auto meets_program = [&](const auto &port) {
        return port->kind_ != PortKind::sticky &&
               ((port->from_ && !port->from_->source) || std::ranges::any_of(port->to_, goes_to_program));
    };
    return tasks.size() >= fewest_tasks ||
           (tasks.size() == 1 && std::ranges::count_if(tasks.front()->ports_, meets_program) >= fewest_blocks);
}

/*
 * Each after those whose blocks it takes in the same round; what closes a cycle has a first block, and waits for none.
 */
std::vector<TaskImpl *> Subgraphs::ordered(const std::vector<std::unique_ptr<TaskImpl>> &tasks)
{
    std::unordered_map<const TaskImpl *, std::size_t> missing;
    std::vector<TaskImpl *> order;
    auto counts = [](const Channel *channel) {
        const PortImpl *to = channel->destination;
        return to && !channel->is_loop && (!to->options().initial || to->options().kind == PortKind::sticky);
    };

    for (const auto &task : tasks)
        for (const auto &port : task->ports_)
            for (const Channel *channel : port->to_)
                if (counts(channel))
                    missing[&channel->destination->task_]++;
    for (const auto &task : tasks)
        if (!missing[task.get()])
            order.push_back(task.get());
    for (std::size_t i = 0; i < order.size(); i++)
        for (const auto &port : order[i]->ports_)
            for (const Channel *channel : port->to_)
                if (counts(channel) && !--missing[&channel->destination->task_])
                    order.push_back(&channel->destination->task_);
    return order;
}

/*
 * A stage is left where a channel leads to a task that does not fit, or out of one, or to a sticky port: on no way does
 * it get lower. Tasks of one stage that pass blocks to each other are a subgraph.
 */
std::vector<std::vector<TaskImpl *>> Subgraphs::connected(const std::vector<TaskImpl *> &ordered)
{
    std::unordered_set<const TaskImpl *> fitting;
    std::unordered_map<const TaskImpl *, unsigned> stage;
    std::unordered_map<const TaskImpl *, std::size_t> place;
    std::vector<std::vector<TaskImpl *>> found(ordered.size());
    Sets sets(ordered.size());
    auto each_channel = [&](auto function) {
        for (TaskImpl *task : ordered)
            for (const auto &port : task->ports_)
                for (const Channel *channel : port->to_)
                    if (channel->destination && !channel->is_loop)
                        function(*task, channel->destination->task_, *channel->destination);
    };
    auto joins = [&](const TaskImpl &from, const TaskImpl &to, const PortImpl &port) {
        return fitting.count(&from) && fitting.count(&to) && from.devices_ == to.devices_ &&
               port.options().kind != PortKind::sticky;
    };

    for (std::size_t i = 0; i < ordered.size(); i++)
        place[ordered[i]] = i;
    for (const TaskImpl *task : ordered)
        if (fits(*task))
            fitting.insert(task);
    each_channel([&](const TaskImpl &from, const TaskImpl &to, const PortImpl &port) {
        bool first_is_there = port.options().initial && port.options().kind != PortKind::sticky;
        if (!first_is_there)
            stage[&to] = std::max(stage[&to], stage[&from] + !joins(from, to, port));
    });
    each_channel([&](const TaskImpl &from, const TaskImpl &to, const PortImpl &port) {
        if (joins(from, to, port) && stage[&from] == stage[&to])
            sets.join(place[&from], place[&to]);
    });
    for (TaskImpl *task : ordered)
        if (fitting.count(task))
            found[sets.first_of(place[task])].push_back(task);
    std::erase_if(found, [](const auto &subgraph) { return !is_worth_it(subgraph); });
    return found;
}

/* Values, in the order in which tasks write them. */
class SubgraphBuilder {
public:
    explicit SubgraphBuilder(const std::vector<TaskImpl *> &tasks)
    {
        subgraph_.tasks = tasks;
        for (TaskImpl *task : tasks)
            inside_.insert(task);
        for (TaskImpl *task : tasks)
            add(*task);
        use_order(subgraph_);
    }

    Subgraph take()
    {
        for (SubgraphOutput &output : subgraph_.outputs)
            output.may_be_there = output.may_be_there && subgraph_.buffers[output.buffer].users.size() == 1;
        subgraph_.ends_at_once = ends_at_once();
        return std::move(subgraph_);
    }

private:
    struct Value {
        std::size_t buffer;
        std::optional<std::size_t> writer;
    };

    bool is_inside(const Channel &channel) const
    {
        return channel.source && channel.destination && inside_.count(&channel.source->task_) &&
               inside_.count(&channel.destination->task_) && channel.destination->options().kind != PortKind::sticky;
    }

    bool ends_at_once() const
    {
        std::vector<bool> is_last(subgraph_.steps.size(), true);
        for (const SubgraphStep &step : subgraph_.steps)
            for (std::size_t before : step.after)
                is_last[before] = false;
        return std::ranges::count(is_last, true) == 1 &&
               std::ranges::all_of(subgraph_.outputs,
                                   [&](const SubgraphOutput &output) { return is_last[output.writer]; });
    }

    std::size_t new_buffer(std::size_t bytes)
    {
        subgraph_.buffers.push_back({bytes});
        return subgraph_.buffers.size() - 1;
    }

    std::size_t fixed(PortImpl &port)
    {
        std::size_t buffer = new_buffer(port.options().form.bytes());
        subgraph_.buffers[buffer].has_room = false;
        subgraph_.fixed.push_back({&port, buffer});
        return buffer;
    }

    void reads(SubgraphStep &step, const Value &value)
    {
        if (value.writer)
            step.after.push_back(*value.writer);
    }

    /* A copy of what an inout port or an output begins with. */
    std::size_t copied(const Value &from, std::size_t to)
    {
        SubgraphStep copy;
        copy.to = to;
        copy.from = from.buffer;
        reads(copy, from);
        return add(std::move(copy));
    }

    std::size_t add(SubgraphStep &&step)
    {
        std::sort(step.after.begin(), step.after.end());
        step.after.erase(std::unique(step.after.begin(), step.after.end()), step.after.end());
        const std::size_t index = subgraph_.steps.size();
        auto use = [&](std::size_t buffer) {
            auto &users = subgraph_.buffers[buffer].users;
            if (users.empty() || users.back() != index)
                users.push_back(index);
        };
        if (!step.task) {
            use(step.to);
            use(step.from);
        }
        for (const SubgraphStep::Argument &argument : step.arguments)
            if (!argument.by_value)
                use(argument.what);
        subgraph_.steps.push_back(std::move(step));
        return index;
    }

    /* What comes in there, of a set. */
    Value input(PortImpl &port, bool is_filled)
    {
        if (is_inside(*port.from_))
            return values_.at(port.from_->source);
        std::size_t buffer = new_buffer(port.options().form.bytes());
        subgraph_.inputs.push_back({port.from_, buffer, is_filled});
        return {buffer, {}};
    }

    /* The buffer that a task changes, and what comes before it. */
    Value changed(PortImpl &port, SubgraphStep &step)
    {
        std::size_t bytes = port.options().form.bytes();
        if (!port.from_) {
            std::size_t to = new_buffer(bytes);
            return {to, copied({fixed(port), {}}, to)};
        }
        Value before = input(port, true);
        bool alone = !is_inside(*port.from_) || port.from_->source->to_.size() == 1;
        if (alone) {
            reads(step, before);
            return {before.buffer, {}};
        }
        std::size_t to = new_buffer(bytes);
        return {to, copied(before, to)};
    }

    void add(TaskImpl &task)
    {
        SubgraphStep step;
        std::vector<std::pair<PortImpl *, std::size_t>> written;
        std::vector<std::size_t> by_value;

        step.task = &task;
        for (const auto &port : task.ports_) {
            const PortOptions &options = port->options();
            if (options.kind == PortKind::sticky && options.form.binding == Binding::by_value) {
                subgraph_.fixed.push_back({port.get(), {}, {}});
                by_value.push_back(subgraph_.fixed.size() - 1);
                step.arguments.push_back({true, subgraph_.fixed.size() - 1});
                continue;
            }
            Value value{};
            if (options.kind == PortKind::sticky) {
                value = {fixed(*port), {}};
            } else if (options.kind == PortKind::input) {
                value = input(*port, false);
            } else if (options.kind == PortKind::inout) {
                value = changed(*port, step);
            } else {
                value.buffer = new_buffer(options.form.bytes());
                if (options.initial)
                    value.writer = copied({fixed(*port), {}}, value.buffer);
            }
            reads(step, value);
            step.arguments.push_back({false, value.buffer});
            if (port->gives())
                written.emplace_back(port.get(), value.buffer);
        }
        const std::size_t index = add(std::move(step));
        for (std::size_t fixed : by_value)
            subgraph_.fixed[fixed].users.push_back(index);
        for (auto &[port, buffer] : written) {
            values_[port] = {buffer, index};
            add_output(*port, buffer, index);
        }
    }

    void add_output(PortImpl &port, std::size_t buffer, std::size_t writer)
    {
        SubgraphOutput output{{}, buffer, writer, true, false};
        output.may_be_there = port.options().kind == PortKind::output && !port.options().initial;
        for (Channel *channel : port.to_)
            if (!is_inside(*channel)) {
                const PortImpl *to = channel->destination;
                output.channels.push_back(channel);
                output.is_kept = output.is_kept && !(to && to->options().kind == PortKind::inout);
                output.for_host = output.for_host || (to && to->task().is_on_host());
                output.may_be_there = output.may_be_there && (!to || (to->task().is_on_host() && !to->read_));
            }
        if (output.channels.empty())
            return;
        subgraph_.buffers[buffer].has_room = false;
        subgraph_.outputs.push_back(std::move(output));
    }

    Subgraph subgraph_;
    std::unordered_set<const TaskImpl *> inside_;
    std::unordered_map<const PortImpl *, Value> values_;
};

std::vector<Subgraph> Subgraphs::find(const std::vector<std::unique_ptr<TaskImpl>> &tasks)
{
    std::vector<Subgraph> found;
    for (const auto &some : connected(ordered(tasks)))
        found.push_back(SubgraphBuilder(some).take());
    std::erase_if(found, [](const Subgraph &subgraph) { return subgraph.outputs.empty() || subgraph.inputs.empty(); });
    return found;
}

} // namespace ptsched::ptask
