// SPDX-License-Identifier: MIT
#include "launch.hpp"

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

device::Address Launch::begin_output(std::size_t i)
{
    const Port &port = *run_.task->ports_[i];
    DatablockPtr &block = run_.held[i];

    block = Datablock::empty(bytes_of(port));
    device::Address address = block->produce(device_, queue_);
    if (const DatablockPtr &initial = port.options_.initial)
        queue_.upload(address, initial->read(), block->bytes());
    return address;
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

bool Launch::is_only_here(const Datablock &block) const
{
    if (block.missing(device_))
        return false;
    for (const device::Device *gpu : device::gpus())
        if (gpu != &device_ && !block.missing(*gpu))
            return false;
    return &device_ == &device::host() || (block.missing(device::host()) && block.queue() == &queue_);
}

/* An address at which work writes over the content; others that have the block do not see that. */
device::Address Launch::modify(std::size_t i)
{
    DatablockPtr &block = run_.held[i];
    if (is_alone(i) && is_only_here(*block))
        return block->use(device_, queue_);
    DatablockPtr copy = Datablock::empty(block->bytes());
    device::Address to = copy->produce(device_, queue_);
    device::Address from = block->use(device::host(), queue_);
    queue_.upload(to, device::host_pointer(from), block->bytes());
    run_.sources.push_back(std::exchange(block, copy));
    return to;
}

void Launch::add_parameter(std::size_t i)
{
    const Task &task = *run_.task;
    const Port &port = *task.ports_[i];
    DatablockPtr &block = run_.held[i];

    if (!port.is_parameter())
        return;
    if (task.has_call_)
        run_.call.bytes_.push_back(block ? block->bytes() : bytes_of(port));
    if (port.options_.form.binding == Binding::by_value && !task.on_host_) {
        run_.arguments.push_back(const_cast<void *>(block->read()));
        return;
    }
    if (port.gives())
        run_.addresses[i] = block ? modify(i) : begin_output(i);
    else
        run_.addresses[i] = block->use(device_, queue_);
    run_.arguments.push_back(&run_.addresses[i]);
}

void Launch::start(const device::Code &code)
{
    const Task &task = *run_.task;
    Geometry geometry = task.geometry_;

    run_.arguments.clear();
    run_.call.bytes_.clear();
    run_.call.signals_ = {};
    for (std::size_t i = 0; i < task.ports_.size(); i++)
        add_parameter(i);
    if (task.has_call_)
        run_.arguments.push_back(&run_.call_address);
    if (run_.timed && run_.uploaded + run_.migrated)
        run_.copied = queue_.mark();
    if (task.shape_)
        geometry = geometry_for({run_.held[task.shape_->index_]->bytes() / task.shape_->options_.form.stride, 1, 1});
    /* No records, no threads: drivers refuse that. */
    if (task.on_host_ || geometry.grid.x)
        queue_.run(code, geometry, run_.arguments);
    run_.marker = queue_.mark();
    for (const auto &port : task.ports_)
        if (port->gives())
            run_.held[port->index_]->written(run_.marker);
}

} // namespace ptsched::ptask
