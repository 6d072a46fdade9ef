// SPDX-License-Identifier: MIT
#include "libptsched/ptask/api/graph.hpp"

#include "libptsched/ptask/devices/device_choice.hpp"
#include "libptsched/ptask/graph/call.hpp"
#include "libptsched/ptask/graph/checks.hpp"
#include "libptsched/ptask/graph/constants.hpp"
#include "libptsched/ptask/graph/parameters.hpp"
#include "libptsched/ptask/graph/retired.hpp"
#include "libptsched/ptask/run/scheduler.hpp"
#include "libptsched/ptask/time/nvtx.hpp"
#include <ptsched/device/requester.hpp>

#include <atomic>
#include <sys/resource.h>

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

GraphImpl::GraphImpl(const GraphOptions &options)
    : proxy_priority_(options.proxy_priority ? *options.proxy_priority : -getpriority(PRIO_PROCESS, 0)),
      device_names_(options.devices), scheduler_(std::make_unique<Scheduler>(options))
{
}

GraphImpl::~GraphImpl()
{
    scheduler_->stop();
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

Graph::Graph(const GraphOptions &options) : impl_(std::make_unique<GraphImpl>(options)) {}

Graph::~Graph() = default;

Task &Graph::kernel(const std::string &name, const DeviceKernel &kernel, const std::vector<PortOptions> &ports)
{
    std::unique_ptr<TaskImpl> task = impl_->make_task(name, ports);
    const bool constants = has_constants(ports);

    Checks::kernel(name, kernel);
    impl_->make_codes(*task, kernel, constants);
    task->set_shape(kernel);
    if (constants && task->codes_.front()->has_variables())
        task->make_constants(kernel.function);
    check_parameters(name, kernel.function, *task->codes_.front(), parameters_of(task->ports_));
    return impl_->add(std::move(task));
}

Task &Graph::cuda(const std::string &name, const Kernel &code, const std::vector<PortOptions> &ports)
{
    const device::Module which = module_for(ports);
    auto make = [&](device::Device &gpu) { return device::cuda_code(gpu, code.module, code.function, which); };
    return kernel(name, {impl_->gpus_for(name), make, code.function, code.module, code.geometry}, ports);
}

Task &Graph::cuda_image(const std::string &name, const Image &image, const std::vector<PortOptions> &ports)
{
    const device::Module which = module_for(ports);
    auto make = [&](device::Device &gpu) {
        return device::cuda_code_from_image(gpu, image.bytes, image.function, which);
    };
    return kernel(name, {impl_->gpus_for(name), make, image.function, {}, image.geometry}, ports);
}

TaskImpl &GraphImpl::add_host(std::unique_ptr<TaskImpl> task, device::HostFunction function, Calls calls)
{
    task->on_host_ = true;
    task->concurrent_ = calls == Calls::concurrent;
    task->devices_.push_back(&device::host());
    auto call = [function = std::move(function), &scheduler = *scheduler_,
                 &name = task->name_](const std::vector<void *> &arguments) {
        Scheduler::Calling calling(scheduler);
        NvtxRange range(name);
        function(arguments);
    };
    task->codes_.push_back(device::host_code(std::move(call)));
    return add(std::move(task));
}

Task &Graph::host(const std::string &name, HostFunction function, const std::vector<PortOptions> &ports, Calls calls)
{
    if (!function)
        throw Error("task " + name + " has an empty function");
    std::unique_ptr<TaskImpl> task = impl_->make_task(name, ports);
    auto call = [function = std::move(function),
                 parameters = arguments_of(*task)](const std::vector<void *> &addresses) {
        function({parameters, addresses});
    };
    return impl_->add_host(std::move(task), std::move(call), calls);
}

Task &Graph::callback(const std::string &name, Callback function, const std::vector<PortOptions> &ports, Calls calls)
{
    if (!function)
        throw Error("task " + name + " has an empty function");
    std::unique_ptr<TaskImpl> task = impl_->make_task(name, ports);
    task->has_call_ = true;
    /* What Launch adds to the parameters. */
    auto call = [function = std::move(function),
                 parameters = arguments_of(*task)](const std::vector<void *> &addresses) {
        const Arguments arguments(parameters, addresses);
        CallImpl &call = *static_cast<CallImpl *>(addresses.back());
        call.given = &arguments;
        function(call);
    };
    return impl_->add_host(std::move(task), std::move(call), calls);
}

/* Null stands for the world. */
Channel &GraphImpl::open(PortImpl *from, PortImpl *to, std::size_t capacity)
{
    Checks::ends(*this, scheduler_->started(), from, to, capacity);
    /* The block with which a channel begins has its own room, so that no cycle is full. */
    bool has_first = to && to->options_.initial && to->options_.kind != PortKind::sticky;
    auto &channel = channels_.emplace_back(new Channel(*scheduler_, from, to, capacity + has_first));
    if (from)
        from->to_.push_back(channel.get());
    if (!from || !to)
        scheduler_->add_outer(*channel);
    return *channel;
}

void Graph::connect(Port &from, Port &to, std::size_t capacity)
{
    PortImpl &source = impl(from), &destination = impl(to);

    if (destination.from_)
        throw Error("cannot connect " + from.full_name() + " to " + to.full_name() + ": " + to.full_name() +
                    " has a channel already");
    Checks::ends(*impl_, impl_->scheduler_->started(), &source, &destination, capacity);
    Checks::cycle(source, destination);
    destination.from_ = &impl_->open(&source, &destination, capacity);
}

void Graph::loop(Port &from, Port &to, Port &again)
{
    PortImpl &end = impl(from), &begin = impl(to);

    Checks::ends(*impl_, impl_->scheduler_->started(), &end, &begin, 1);
    Checks::loop(end, begin, impl(again));
    /* One for the round that ends, one for the round that begins. */
    begin.loop_ = &impl_->open(&end, &begin, 2);
    begin.loop_->is_loop = true;
    end.task_.again_ = &impl(again);
}

Input &Graph::input(Port &to, std::size_t capacity)
{
    PortImpl &destination = impl(to);

    if (destination.from_)
        throw Error("cannot connect an input to " + to.full_name() + ": " + to.full_name() + " has a channel already");
    destination.from_ = &impl_->open(nullptr, &destination, capacity);
    return *impl_->inputs_.emplace_back(new InputImpl(*destination.from_));
}

void Graph::connect(Input &from, Port &to, std::size_t capacity)
{
    const std::string ends = "cannot connect the input of " + from.port().full_name() + " to " + to.full_name() + ": ";
    PortImpl &destination = impl(to);

    if (destination.from_)
        throw Error(ends + to.full_name() + " has a channel already");
    if (&impl(from).scheduler() != impl_->scheduler_.get())
        throw Error(ends + "they belong to different graphs");
    if (const Template &form = from.port().options().form; !form.fits(to.options().form))
        throw Error(ends + "the former takes " + form.describe_beside(to.options().form) + ", the latter " +
                    to.options().form.describe_beside(form));
    destination.from_ = &impl_->open(nullptr, &destination, capacity);
    impl(from).channels_.push_back(destination.from_);
}

Output &Graph::output(Port &from, std::size_t capacity)
{
    Channel &channel = impl_->open(&impl(from), nullptr, capacity);
    channel.reads = std::make_shared<std::atomic<unsigned>>(0);
    return *impl_->outputs_.emplace_back(new OutputImpl(channel));
}

void Graph::run()
{
    impl_->scheduler_->must_be_new();
    Checks::complete(impl_->tasks_, impl_->channels_);
    impl_->scheduler_->start(impl_->tasks_);
}

void Graph::stop()
{
    impl_->scheduler_->stop();
}

bool Graph::drain(Timeout timeout)
{
    return impl_->scheduler_->drain(timeout);
}

bool Graph::is_stopped() const
{
    return impl_->scheduler_->stopping();
}

void Graph::work_for(int pidfd)
{
    impl_->scheduler_->work_for(pidfd < 0 ? nullptr : device::requester_of_pidfd(pidfd));
}

std::string Graph::timeline() const
{
    return impl_->scheduler_->timeline(impl_->tasks_);
}

std::vector<DeviceCounters> Graph::counters() const
{
    return impl_->scheduler_->counters();
}

std::vector<Task *> Graph::tasks() const
{
    std::vector<Task *> tasks;
    for (const auto &task : impl_->tasks_)
        tasks.push_back(task.get());
    return tasks;
}

} // namespace ptsched::ptask
