// SPDX-License-Identifier: MIT
#include "libptsched/ptask/graph/task.hpp"

#include "libptsched/ptask/api/graph.hpp"
#include "libptsched/ptask/graph/checks.hpp"
#include "libptsched/ptask/graph/constants.hpp"
#include "libptsched/ptask/run/launch.hpp"
#include "libptsched/ptask/run/scheduler.hpp"

#include <algorithm>

namespace ptsched::ptask {

namespace {

Scheduler &scheduler_of(const Task &task)
{
    return *impl(task).graph_.scheduler_;
}

} // namespace

TaskImpl::TaskImpl(GraphImpl &graph, std::string name, const std::vector<PortOptions> &ports)
    : graph_(graph), name_(std::move(name))
{
    proxy_priority_ = graph.proxy_priority_;
    for (const PortOptions &port : ports) {
        if (find(port.name))
            throw Error("task " + name_ + " has two ports with the name " + port.name);
        ports_.emplace_back(new PortImpl(*this, port, ports_.size()));
    }
    for (const auto &port : ports_) {
        port->size_ = port->options_.size_from.empty() ? nullptr : find(port->options_.size_from);
        has_sizes_ = has_sizes_ || port->size_;
    }
}

TaskImpl::~TaskImpl() = default;

PortImpl *TaskImpl::find(const std::string &port) const
{
    auto found = std::find_if(ports_.begin(), ports_.end(), [&](const auto &p) { return p->options_.name == port; });
    return found == ports_.end() ? nullptr : found->get();
}

void TaskImpl::use_geometry(const Geometry &geometry)
{
    Checks::given(name_, geometry);
    leave_out_unfit(geometry, nullptr);
    geometry_ = geometry;
    shape_ = nullptr;
}

/* The others run it; where there are none, nothing changes. */
void TaskImpl::leave_out_unfit(const Geometry &geometry, const PortImpl *output)
{
    std::vector<std::string> reasons(codes_.size());
    std::size_t unfit = 0;
    for (std::size_t i = 0; i < codes_.size(); i++)
        try {
            Checks::geometry(*this, *codes_[i], geometry, output);
        } catch (const Error &error) {
            if (++unfit == codes_.size())
                throw;
            reasons[i] = error.what();
        }
    for (std::size_t i = codes_.size(); i--;) {
        if (reasons[i].empty())
            continue;
        const auto at = static_cast<std::ptrdiff_t>(i);
        left_out_.push_back(devices_[i]->name() + ": " + reasons[i]);
        codes_.erase(codes_.begin() + at);
        devices_.erase(devices_.begin() + at);
        if (!constants_.empty())
            constants_.erase(constants_.begin() + at);
    }
}

/* Threads for the records of the first output, unless somebody says otherwise. */
void TaskImpl::set_shape(const DeviceKernel &kernel)
{
    auto output = std::find_if(ports_.begin(), ports_.end(), [](const auto &port) { return port->gives(); });
    if (kernel.geometry)
        return use_geometry(*kernel.geometry);
    if (output == ports_.end())
        throw Error("task " + name_ + " has no output to take its geometry from: name one");
    const Template &form = (*output)->options_.form;
    if (form.layout == Layout::fixed)
        geometry_ = geometry_for(form.dimensions);
    else
        shape_ = output->get();
    leave_out_unfit(shape_ ? geometry_for({1, 1, 1}) : geometry_, output->get());
}

void TaskImpl::make_constants(const std::string &kernel)
{
    for (const auto &port : ports_)
        port->variable_ = port->binding_ == Binding::constant;
    for (const auto &code : codes_)
        constants_.push_back(std::make_unique<Constants>(*this, kernel, *code));
}

const std::string &Task::name() const
{
    return impl(*this).name();
}

Port &Task::operator[](const std::string &name)
{
    const TaskImpl &task = impl(*this);

    if (PortImpl *port = task.find(name))
        return *port;
    std::string names;
    for (const auto &port : task.ports_)
        names += " " + port->options_.name;
    throw Error("task " + task.name_ + " has no port " + name + "; its ports are:" + names);
}

State Task::state() const
{
    return scheduler_of(*this).state(impl(*this));
}

std::uint64_t Task::completed() const
{
    return scheduler_of(*this).count(impl(*this), &TaskImpl::completed_);
}

std::uint64_t Task::skipped() const
{
    return scheduler_of(*this).count(impl(*this), &TaskImpl::skipped_);
}

std::uint64_t Task::lowered() const
{
    return scheduler_of(*this).lowered(impl(*this));
}

void Task::set_priority(int priority)
{
    scheduler_of(*this).set_priority(impl(*this), &TaskImpl::priority_, priority);
}

void Task::set_proxy_priority(int priority)
{
    scheduler_of(*this).set_priority(impl(*this), &TaskImpl::proxy_priority_, priority);
}

void Task::set_geometry(const Geometry &geometry)
{
    TaskImpl &task = impl(*this);

    if (task.on_host_)
        throw Error("task " + task.name_ + " is a function of the host, and has no geometry");
    if (scheduler_of(*this).started())
        throw Error("task " + task.name_ + " gets a geometry after the graph was run");
    task.use_geometry(geometry);
}

std::vector<Port *> Task::ports() const
{
    std::vector<Port *> ports;
    for (const auto &port : impl(*this).ports_)
        ports.push_back(port.get());
    return ports;
}

bool Task::is_on_host() const
{
    return impl(*this).is_on_host();
}

const std::vector<device::Device *> &Task::devices() const
{
    return impl(*this).devices_;
}

const std::vector<std::string> &Task::left_out() const
{
    return impl(*this).left_out_;
}

} // namespace ptsched::ptask
