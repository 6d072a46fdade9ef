// SPDX-License-Identifier: MIT
#include "libptsched/ptask/run/launch.hpp"

#include "libptsched/ptask/devices/graph_devices.hpp"
#include "libptsched/ptask/graph/constants.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

namespace ptsched::ptask {

namespace {

using device::Access;

unsigned blocks_for(std::size_t records, unsigned threads)
{
    const std::size_t blocks = records / threads + (records % threads != 0);
    return static_cast<unsigned>(std::min<std::size_t>(blocks, UINT_MAX));
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
        if (port->kind_ == PortKind::condition && !run.absent && !integer_in(*run.held[port->index_]))
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
            block = port->options_.initial ? port->options_.initial : Datablock::of("", 0);
    }
}

std::size_t Launch::bytes_of(const PortImpl &port) const
{
    if (port.bytes_ != PortImpl::by_other_)
        return port.bytes_;
    const Template &form = port.options_.form;
    const Template &other = port.size_->options_.form;
    Datablock &block = *run_.held[port.size_->index_];
    std::uint64_t records = other.is_integer() ? integer_in(block) : port.size_->records(block);
    if (form.layout == Layout::variable && records > form.records())
        throw Error("output " + port.options_.name + " would have " + std::to_string(records) + " records, and takes " +
                    form.describe());
    if (!form.can_have(records))
        throw Error("output " + port.options_.name + " would have " + std::to_string(records) + " records of " +
                    std::to_string(form.stride) + " bytes, which is more than " + std::to_string(Template::most_bytes) +
                    " bytes");
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
    if (!is_held_by(block, known))
        return false;
    /* This run keeps it for both. */
    if (in_flight)
        std::replace(writer.run->held.begin(), writer.run->held.end(), DatablockPtr(block), DatablockPtr());
    return true;
}

/* In place, or as a copy that others do not see. A block with more copies than this would be waited for. */
void Launch::plan_inout(std::size_t i)
{
    DatablockPtr &block = run_.held[i];

    if (is_alone(i) && !block->is_foreign(device_) && is_only_on(*block, device_)) {
        run_.items[i] = Access::changes(*block);
        return;
    }
    DatablockPtr copy = Datablock::empty(block->bytes());
    run_.items[i] = Access::writes(*copy, block.get());
    run_.sources.push_back(std::exchange(block, std::move(copy)));
}

/* Before what says a size is replaced by a copy that is yet to be written. */
void Launch::make_sized_outputs()
{
    for (const auto &port : run_.task->ports_)
        if (port->size_)
            run_.held[port->index_] = Datablock::empty(bytes_of(*port));
}

void Launch::plan(std::size_t i)
{
    const PortImpl &port = *run_.task->ports_[i];
    DatablockPtr &block = run_.held[i];

    if (!port.is_parameter() || is_by_value(port)) {
        run_.items[i] = {};
    } else if (!port.gives()) {
        run_.items[i] = Access::reads(*block);
    } else if (block && port.kind_ == PortKind::inout) {
        plan_inout(i);
    } else {
        if (!block)
            block = Datablock::empty(bytes_of(port));
        run_.items[i] = Access::writes(*block, port.begins_ ? port.options_.initial.get() : nullptr);
    }
}

bool Launch::is_by_value(const PortImpl &port) const
{
    return port.binding_ == Binding::by_value && !run_.task->on_host_;
}

void Launch::add_parameter(std::size_t i)
{
    const PortImpl &port = *run_.task->ports_[i];
    DatablockPtr &block = run_.held[i];

    if (!port.is_parameter() || port.is_variable())
        return;
    if (run_.task->has_call_) {
        run_.call.bytes_of.push_back(block->bytes());
        run_.call.records_of.push_back(port.records(*block));
    }
    if (is_by_value(port))
        run_.arguments.push_back(const_cast<void *>(block->read()));
    else
        run_.arguments.push_back(&run_.addresses[i]);
}

Geometry Launch::geometry() const
{
    const TaskImpl &task = *run_.task;
    if (!task.shape_)
        return task.geometry_;
    return geometry_for({task.shape_->records(*run_.held[task.shape_->index_]), 1, 1});
}

void Launch::start(const device::Code &code)
{
    const TaskImpl &task = *run_.task;
    const std::size_t ports = task.ports_.size();

    run_.items.resize(ports);
    run_.arguments.clear();
    run_.call.bytes_of.clear();
    run_.call.records_of.clear();
    run_.call.signals = {};
    if (task.has_sizes_)
        make_sized_outputs();
    for (std::size_t i = 0; i < ports; i++)
        plan(i);
    run_.addresses.resize(ports);
    Access access(device_, queue_, run_.items, run_.addresses.data());
    for (std::size_t i = 0; i < ports; i++)
        add_parameter(i);
    if (constants_)
        constants_->fill(device_, queue_, run_);
    if (task.has_call_)
        run_.arguments.push_back(&run_.call_address);
    if (run_.timed && run_.uploaded + run_.migrated)
        run_.copied = queue_.mark();
    /* No records, no threads: drivers refuse that. */
    const Geometry geometry = this->geometry();
    if (run_.watched)
        run_.watch = queue_.watch();
    if (task.on_host_ || geometry.grid.x)
        queue_.run(code, geometry, run_.arguments);
    if (run_.watch)
        run_.watch->stop();
    run_.marker = run_.asked ? queue_.mark() : queue_.mark_for_later();
    access.given(run_.marker);
    if (constants_)
        constants_->given(queue_, run_.marker);
}

} // namespace ptsched::ptask
