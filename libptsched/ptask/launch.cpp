// SPDX-License-Identifier: MIT
#include "launch.hpp"

#include "places.hpp"

#include <algorithm>
#include <cstring>

namespace ptsched::ptask {

namespace {

unsigned blocks_for(std::size_t records, unsigned threads)
{
    return static_cast<unsigned>((records + threads - 1) / threads);
}

} // namespace

std::uint64_t integer_in(Datablock &block)
{
    std::uint64_t number = 0;
    if (block.bytes() != sizeof(std::uint32_t) && block.bytes() != sizeof(number))
        throw Error("a datablock of " + std::to_string(block.bytes()) + " bytes is no integer");
    std::memcpy(&number, block.read(), block.bytes());
    return number;
}

Geometry geometry_for(const std::array<std::size_t, 3> &d)
{
    Geometry geometry;
    if (d[1] * d[2] == 1)
        geometry.block = {256, 1, 1};
    else
        geometry.block = {16, 16, 1};
    geometry.grid = {blocks_for(d[0], geometry.block.x), blocks_for(d[1], geometry.block.y), blocks_for(d[2], 1)};
    return geometry;
}

bool Launch::is_skipped(const Run &run)
{
    for (const auto &port : run.task->ports_)
        if (port->options_.kind == PortKind::condition && !run.absent && !integer_in(*run.held[port->index_]))
            return true;
    return false;
}

void Launch::fill_skipped(Run &run)
{
    for (const auto &port : run.task->ports_) {
        DatablockPtr &block = run.held[port->index_];
        if (run.absent)
            block.reset();
        else if (port->gives() && !block)
            block = port->options_.initial;
    }
}

std::size_t Launch::bytes_of(const Port &port) const
{
    const Template &form = port.options_.form;
    if (!port.size_)
        return form.bytes();
    const Template &other = port.size_->options_.form;
    Datablock &block = *run_.held[port.size_->index_];
    std::uint64_t records = other.is_integer() ? integer_in(block) : block.bytes() / other.stride;
    if (form.layout == Layout::variable && records > form.records())
        throw Error("output " + port.options_.name + " would have " + std::to_string(records) + " records, and takes " +
                    form.describe());
    return records * form.stride;
}

/* Nobody sees the block but this run and the one that writes it, which ends before. */
bool Launch::is_alone(std::size_t i) const
{
    const DatablockPtr &block = run_.held[i];
    const Writer &writer = run_.writers[i];
    long known = 1;
    bool in_flight = writer.run && writer.run->number == writer.number;

    if (in_flight)
        known += std::count(writer.run->held.begin(), writer.run->held.end(), block);
    if (block.use_count() != known)
        return false;
    /* This run keeps it for both. */
    if (in_flight)
        std::replace(writer.run->held.begin(), writer.run->held.end(), DatablockPtr(block), DatablockPtr());
    /* What others read before they let go of it, they read before it is written: this pairs with their letting go. */
    DatablockPtr ordered(block);
    return true;
}

/* Also as far as queues wait for each other: who follows on the queue that wrote the block does not. */
bool Launch::is_only_here(const Datablock &block) const
{
    return is_only_on(block, device_) && (&device_ == &device::host() || block.queue() == &queue_);
}

std::size_t Launch::add_item(Datablock &block, bool written)
{
    run_.items.push_back({&block, written});
    return run_.items.size() - 1;
}

/* What of a block is needed here: in place, or as a copy that others do not see. */
void Launch::plan_inout(std::size_t i)
{
    DatablockPtr &block = run_.held[i];
    Run::Parameter &parameter = run_.parameters[i];

    parameter.in_place = is_alone(i) && is_only_here(*block);
    if (parameter.in_place) {
        parameter.item = add_item(*block, false);
        return;
    }
    DatablockPtr copy = Datablock::empty(block->bytes());
    parameter.item = add_item(*copy, true);
    parameter.from = std::exchange(block, std::move(copy));
    const auto &gpus = device::gpus();
    parameter.from_here = !parameter.from->missing(device_) && std::count(gpus.begin(), gpus.end(), &device_);
    if (parameter.from_here)
        parameter.from_item = add_item(*parameter.from, false);
}

void Launch::plan(std::size_t i)
{
    const Port &port = *run_.task->ports_[i];
    DatablockPtr &block = run_.held[i];
    Run::Parameter &parameter = run_.parameters[i];

    parameter.by_value = port.options_.form.binding == Binding::by_value && !run_.task->on_host_;
    if (!port.is_parameter() || parameter.by_value)
        return;
    if (!port.gives()) {
        parameter.item = add_item(*block, false);
    } else if (block) {
        plan_inout(i);
    } else {
        block = Datablock::empty(bytes_of(port));
        parameter.item = add_item(*block, true);
        parameter.from = port.options_.initial;
    }
}

/* What the code changes begins with its content. */
void Launch::fill(std::size_t i)
{
    DatablockPtr &block = run_.held[i];
    Run::Parameter &parameter = run_.parameters[i];

    if (parameter.in_place && &device_ != &device::host() && !block->missing(device::host())) {
        /* It was evicted to the host meanwhile, and came back. */
        parameter.from = std::exchange(block, Datablock::empty(block->bytes()));
        parameter.in_place = false;
        run_.addresses[parameter.item] = block->produce(device_, queue_);
    }
    if (!parameter.from)
        return;
    device::Address to = run_.addresses[parameter.item];
    if (parameter.from_here)
        queue_.copy(to, device_, run_.addresses[parameter.from_item], block->bytes());
    else
        queue_.upload(to, device::host_pointer(parameter.from->use(device::host(), queue_)), block->bytes());
}

void Launch::add_parameter(std::size_t i)
{
    const Port &port = *run_.task->ports_[i];
    DatablockPtr &block = run_.held[i];

    if (!port.is_parameter())
        return;
    if (run_.task->has_call_)
        run_.call.bytes_.push_back(block->bytes());
    if (run_.parameters[i].by_value)
        run_.arguments.push_back(const_cast<void *>(block->read()));
    else
        run_.arguments.push_back(&run_.addresses[run_.parameters[i].item]);
}

Geometry Launch::geometry() const
{
    const Task &task = *run_.task;
    if (!task.shape_)
        return task.geometry_;
    return geometry_for({run_.held[task.shape_->index_]->bytes() / task.shape_->options_.form.stride, 1, 1});
}

void Launch::start(const device::Code &code)
{
    const Task &task = *run_.task;
    const std::size_t ports = task.ports_.size();

    run_.begin_launch(ports);
    run_.call.bytes_.clear();
    run_.call.signals_ = {};
    for (std::size_t i = 0; i < ports; i++)
        plan(i);
    run_.addresses.resize(run_.items.size());
    device::Access access(device_, queue_, run_.items, run_.addresses.data());
    for (std::size_t i = 0; i < ports; i++)
        fill(i);
    for (std::size_t i = 0; i < ports; i++)
        add_parameter(i);
    if (task.has_call_)
        run_.arguments.push_back(&run_.call_address);
    if (run_.timed && run_.uploaded + run_.migrated)
        run_.copied = queue_.mark();
    /* No records, no threads: drivers refuse that. */
    const Geometry geometry = this->geometry();
    if (task.on_host_ || geometry.grid.x)
        queue_.run(code, geometry, run_.arguments);
    run_.marker = queue_.mark();
    for (std::size_t i = 0; i < ports; i++)
        if (task.ports_[i]->gives())
            run_.held[i]->written(run_.marker);
    access.given(run_.marker);
}

} // namespace ptsched::ptask
