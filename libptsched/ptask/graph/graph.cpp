// SPDX-License-Identifier: MIT
#include "libptsched/ptask/graph/graph.hpp"
#include "libptsched/ptask/devices/device_choice.hpp"
#include "libptsched/ptask/devices/requester.hpp"
#include "libptsched/ptask/graph/checks.hpp"
#include "libptsched/ptask/graph/constants.hpp"
#include "libptsched/ptask/graph/parameters.hpp"
#include "libptsched/ptask/graph/retired.hpp"
#include "libptsched/ptask/run/launch.hpp"
#include "libptsched/ptask/run/scheduler.hpp"

#include <algorithm>
#include <atomic>
#include <sys/resource.h>
#include <thread>

namespace ptsched::ptask {

namespace {

/* What a kernel gets of ports. */
std::vector<Parameter> parameters_of(const std::vector<std::unique_ptr<PortImpl>> &ports)
{
    std::vector<Parameter> given;
    for (const auto &port : ports) {
        const PortOptions &options = port->options();
        const bool by_value = options.form.binding == Binding::by_value;
        if (port->is_parameter() && !port->is_variable())
            given.push_back({options.name, by_value ? options.form.bytes() : sizeof(device::Address), by_value});
    }
    return given;
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

PortImpl &TaskImpl::operator[](const std::string &name)
{
    if (PortImpl *port = find(name))
        return *port;
    std::string names;
    for (const auto &port : ports_)
        names += " " + port->options_.name;
    throw Error("task " + name_ + " has no port " + name + "; its ports are:" + names);
}

State TaskImpl::state() const
{
    return graph_.scheduler_->state(*this);
}

std::uint64_t TaskImpl::completed() const
{
    return graph_.scheduler_->count(*this, &TaskImpl::completed_);
}

std::uint64_t TaskImpl::skipped() const
{
    return graph_.scheduler_->count(*this, &TaskImpl::skipped_);
}

std::uint64_t TaskImpl::lowered() const
{
    return graph_.scheduler_->lowered(*this);
}

void TaskImpl::set_priority(int priority)
{
    graph_.scheduler_->set_priority(*this, &TaskImpl::priority_, priority);
}

void TaskImpl::set_geometry(const Geometry &geometry)
{
    if (on_host_)
        throw Error("task " + name_ + " is a function of the host, and has no geometry");
    if (graph_.scheduler_->started())
        throw Error("task " + name_ + " gets a geometry after the graph was run");
    use_geometry(geometry);
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

void TaskImpl::set_proxy_priority(int priority)
{
    graph_.scheduler_->set_priority(*this, &TaskImpl::proxy_priority_, priority);
}

Entrance::Inside::Inside(const Entrance &entrance, const char *which) : entrance_(entrance)
{
    entrance_.inside_.fetch_add(1);
    if (!entrance_.closed_.load())
        return;
    entrance_.inside_.fetch_sub(1);
    throw Error(std::string("the graph of this ") + which + " is gone: it is to live as long as somebody uses it");
}

void Entrance::close()
{
    closed_.store(true);
    while (inside_.load())
        std::this_thread::yield();
}

PortState PortImpl::state() const
{
    return task_.graph_.scheduler_->state(*this);
}

bool InputImpl::send(Item &&item, Timeout timeout, const std::stop_token &stop)
{
    Entrance::Inside inside(entrance_, "input");
    return channels_.front()->scheduler.push(channels_, std::move(item), timeout, stop);
}

const PortImpl &InputImpl::port() const
{
    Entrance::Inside inside(entrance_, "input");
    return *channels_.front()->destination;
}

Depth InputImpl::depth() const
{
    Entrance::Inside inside(entrance_, "input");
    return channels_.front()->scheduler.depth(channels_);
}

void InputImpl::work_for(const RequesterPtr &requester)
{
    Entrance::Inside inside(entrance_, "input");
    channels_.front()->scheduler.work_for(requester);
}

std::optional<Item> OutputImpl::take(Timeout timeout, const std::stop_token &stop)
{
    Entrance::Inside inside(entrance_, "output");
    return channel_.scheduler.pull(channel_, timeout, stop, false);
}

std::optional<Item> OutputImpl::take_before_end(Timeout timeout, const std::stop_token &stop)
{
    Entrance::Inside inside(entrance_, "output");
    return channel_.scheduler.pull(channel_, timeout, stop, true);
}

void OutputImpl::give_back(Item &&item)
{
    Entrance::Inside inside(entrance_, "output");
    channel_.scheduler.give_back(channel_, std::move(item));
}

int OutputImpl::descriptor()
{
    Entrance::Inside inside(entrance_, "output");
    return channel_.scheduler.descriptor(channel_);
}

Depth OutputImpl::depth() const
{
    Entrance::Inside inside(entrance_, "output");
    Channel *const one[] = {&channel_};
    return channel_.scheduler.depth(one);
}

const PortImpl &OutputImpl::port() const
{
    Entrance::Inside inside(entrance_, "output");
    return *channel_.source;
}

void OutputImpl::work_for(const RequesterPtr &requester)
{
    Entrance::Inside inside(entrance_, "output");
    channel_.scheduler.work_for(requester, true);
}

GraphImpl::GraphImpl(const GraphOptions &options)
    : proxy_priority_(options.proxy_priority ? *options.proxy_priority : -getpriority(PRIO_PROCESS, 0)),
      device_names_(options.devices), scheduler_(std::make_unique<Scheduler>(options))
{
}

GraphImpl::~GraphImpl()
{
    stop();
    for (auto &input : inputs_) {
        input->entrance_.close();
        Retired<InputImpl>::keep(std::move(input));
    }
    for (auto &output : outputs_) {
        output->entrance_.close();
        Retired<OutputImpl>::keep(std::move(output));
    }
}

std::unique_ptr<TaskImpl> GraphImpl::make_task(const std::string &name, const std::vector<PortOptions> &ports)
{
    std::unique_ptr<TaskImpl> task(new TaskImpl(*this, name, ports));
    Checks::task(*task);
    return task;
}

TaskImpl &GraphImpl::add(std::unique_ptr<TaskImpl> task)
{
    if (scheduler_->started())
        throw Error("task " + task->name() + " comes after the graph was run");
    if (!names_.insert(task->name()).second)
        throw Error("there are two tasks with the name " + task->name());
    for (const auto &port : task->ports_) {
        const PortOptions &options = port->options_;
        bool by_value = options.form.binding == Binding::by_value && !task->on_host_;
        port->read_ = port->read_ || !port->is_parameter() || by_value;
        if (port->size_ && port->size_->options_.form.is_integer())
            task->ports_[port->size_->index_]->read_ = true;
    }
    return *tasks_.emplace_back(std::move(task));
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

/* That of another task, unless this one is to have variables of its own. */
std::shared_ptr<device::Code> GraphImpl::code_for(device::Device &device, const DeviceKernel &kernel, bool constants)
{
    auto &known = codes_[{&device, kernel.program + '\n' + kernel.function}];
    auto is_shared = [&](const std::shared_ptr<device::Code> &code) {
        return code && !kernel.program.empty() && !(constants && code->has_variables());
    };
    if (is_shared(known))
        return known;
    std::shared_ptr<device::Code> made = kernel.make(device);
    if (!made)
        throw Error("nothing was made of kernel " + kernel.function + " for " + device.name());
    if (is_shared(made))
        known = made;
    return made;
}

/* For those of its devices that can run it. */
void GraphImpl::make_codes(TaskImpl &task, const DeviceKernel &kernel, bool constants)
{
    std::string reasons;
    for (device::Device *device : kernel.devices)
        try {
            task.codes_.push_back(code_for(*device, kernel, constants));
            task.devices_.push_back(device);
        } catch (const Error &error) {
            task.left_out_.push_back(device->name() + ": " + error.what());
            if (reasons.find(error.what()) == std::string::npos)
                reasons += (reasons.empty() ? "" : "; ") + std::string(error.what());
        }
    if (task.codes_.empty())
        throw Error("task " + task.name() + ": " + reasons);
}

/* Those that the graph may use; throws Error if there is none. */
std::vector<device::Device *> GraphImpl::gpus_for(const std::string &task) const
{
    if (device::gpus().empty())
        throw Error("task " + task + " needs a GPU: there is none, or no CUDA driver");
    try {
        return chosen_gpus(device::gpus(), device_names_);
    } catch (const Error &error) {
        throw Error("task " + task + ": " + error.what());
    }
}

TaskImpl &GraphImpl::kernel(const std::string &name, const DeviceKernel &kernel, const std::vector<PortOptions> &ports)
{
    std::unique_ptr<TaskImpl> task = make_task(name, ports);
    const bool constants = has_constants(ports);

    Checks::kernel(name, kernel);
    make_codes(*task, kernel, constants);
    task->set_shape(kernel);
    if (constants && task->codes_.front()->has_variables())
        task->make_constants(kernel.function);
    check_parameters(name, kernel.function, *task->codes_.front(), parameters_of(task->ports_));
    return add(std::move(task));
}

TaskImpl &GraphImpl::cuda(const std::string &name, const Kernel &code, const std::vector<PortOptions> &ports)
{
    const device::Module which = module_for(ports);
    auto make = [&](device::Device &gpu) { return device::cuda_code(gpu, code.module, code.function, which); };
    return kernel(name, {gpus_for(name), make, code.function, code.module, code.geometry}, ports);
}

TaskImpl &GraphImpl::cuda_image(const std::string &name, const Image &image, const std::vector<PortOptions> &ports)
{
    const device::Module which = module_for(ports);
    auto make = [&](device::Device &gpu) {
        return device::cuda_code_from_image(gpu, image.bytes, image.function, which);
    };
    return kernel(name, {gpus_for(name), make, image.function, {}, image.geometry}, ports);
}

TaskImpl &GraphImpl::add_host(std::unique_ptr<TaskImpl> task, device::HostFunction function, Calls calls)
{
    task->on_host_ = true;
    task->concurrent_ = calls == Calls::concurrent;
    task->devices_.push_back(&device::host());
    auto call = [function = std::move(function), &scheduler = *scheduler_](const std::vector<void *> &arguments) {
        Scheduler::Calling calling(scheduler);
        function(arguments);
    };
    task->codes_.push_back(device::host_code(std::move(call)));
    return add(std::move(task));
}

TaskImpl &GraphImpl::host(const std::string &name, HostFunction function, const std::vector<PortOptions> &ports,
                          Calls calls)
{
    if (!function)
        throw Error("task " + name + " has an empty function");
    std::unique_ptr<TaskImpl> task = make_task(name, ports);
    auto call = [function = std::move(function),
                 parameters = arguments_of(*task)](const std::vector<void *> &addresses) {
        function({parameters, addresses});
    };
    return add_host(std::move(task), std::move(call), calls);
}

TaskImpl &GraphImpl::callback(const std::string &name, Callback function, const std::vector<PortOptions> &ports,
                              Calls calls)
{
    if (!function)
        throw Error("task " + name + " has an empty function");
    std::unique_ptr<TaskImpl> task = make_task(name, ports);
    task->has_call_ = true;
    /* What Launch adds to the parameters. */
    auto call = [function = std::move(function),
                 parameters = arguments_of(*task)](const std::vector<void *> &addresses) {
        const Arguments arguments(parameters, addresses);
        CallImpl &call = *static_cast<CallImpl *>(addresses.back());
        call.given = &arguments;
        function(call);
    };
    return add_host(std::move(task), std::move(call), calls);
}

std::size_t CallImpl::known(std::size_t parameter) const
{
    if (parameter < parameters())
        return parameter;
    throw Error("there is no parameter " + std::to_string(parameter) + ": the function has " +
                std::to_string(parameters()) + ", from 0 on, and metadata and conditions are none");
}

/* Null stands for the world. */
Channel &GraphImpl::open(PortImpl *from, PortImpl *to, std::size_t capacity)
{
    Checks::ends(*this, from, to, capacity);
    /* The block with which a channel begins has its own room, so that no cycle is full. */
    bool has_first = to && to->options_.initial && to->options_.kind != PortKind::sticky;
    auto &channel = channels_.emplace_back(new Channel(*scheduler_, from, to, capacity + has_first));
    if (from)
        from->to_.push_back(channel.get());
    if (!from || !to)
        scheduler_->add_outer(*channel);
    return *channel;
}

void GraphImpl::connect(PortImpl &from, PortImpl &to, std::size_t capacity)
{
    if (to.from_)
        throw Error("cannot connect " + from.full_name() + " to " + to.full_name() + ": " + to.full_name() +
                    " has a channel already");
    Checks::ends(*this, &from, &to, capacity);
    Checks::cycle(from, to);
    to.from_ = &open(&from, &to, capacity);
}

void GraphImpl::loop(PortImpl &from, PortImpl &to, PortImpl &again)
{
    Checks::ends(*this, &from, &to, 1);
    Checks::loop(from, to, again);
    /* One for the round that ends, one for the round that begins. */
    to.loop_ = &open(&from, &to, 2);
    to.loop_->is_loop = true;
    from.task_.again_ = &again;
}

InputImpl &GraphImpl::input(PortImpl &to, std::size_t capacity)
{
    if (to.from_)
        throw Error("cannot connect an input to " + to.full_name() + ": " + to.full_name() + " has a channel already");
    to.from_ = &open(nullptr, &to, capacity);
    return *inputs_.emplace_back(new InputImpl(*to.from_));
}

void GraphImpl::connect(InputImpl &from, PortImpl &to, std::size_t capacity)
{
    const std::string ends = "cannot connect the input of " + from.port().full_name() + " to " + to.full_name() + ": ";
    if (to.from_)
        throw Error(ends + to.full_name() + " has a channel already");
    if (&from.channels_.front()->scheduler != scheduler_.get())
        throw Error(ends + "they belong to different graphs");
    if (const Template &form = from.port().options().form; !form.fits(to.options().form))
        throw Error(ends + "the former takes " + form.describe_beside(to.options().form) + ", the latter " +
                    to.options().form.describe_beside(form));
    to.from_ = &open(nullptr, &to, capacity);
    from.channels_.push_back(to.from_);
}

OutputImpl &GraphImpl::output(PortImpl &from, std::size_t capacity)
{
    Channel &channel = open(&from, nullptr, capacity);
    channel.reads = std::make_shared<std::atomic<unsigned>>(0);
    return *outputs_.emplace_back(new OutputImpl(channel));
}

void GraphImpl::run()
{
    scheduler_->must_be_new();
    Checks::complete(*this);
    scheduler_->start(tasks_);
}

void GraphImpl::stop()
{
    scheduler_->stop();
}

bool GraphImpl::drain(Timeout timeout)
{
    return scheduler_->drain(timeout);
}

bool GraphImpl::is_stopped() const
{
    return scheduler_->stopping();
}

void GraphImpl::work_for(int pidfd)
{
    scheduler_->work_for(pidfd < 0 ? nullptr : requester_of_pidfd(pidfd));
}

std::string GraphImpl::timeline() const
{
    return scheduler_->timeline(tasks_);
}

std::vector<DeviceCounters> GraphImpl::counters() const
{
    return scheduler_->counters();
}

} // namespace ptsched::ptask
