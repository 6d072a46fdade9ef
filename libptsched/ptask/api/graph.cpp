// SPDX-License-Identifier: MIT
// The public classes are their insides, and nothing else.
#include "libptsched/ptask/graph/graph.hpp"
#include "libptsched/ptask/graph/call.hpp"
#include "libptsched/ptask/run/scheduler.hpp"

namespace ptsched::ptask {

namespace {

/* To those of something that belongs to it. */
template <typename Public, typename Insides>
std::vector<Public *> pointers_to(const std::vector<std::unique_ptr<Insides>> &insides)
{
    std::vector<Public *> pointers;
    for (const auto &one : insides)
        pointers.push_back(one.get());
    return pointers;
}

} // namespace

std::size_t Call::parameters() const
{
    return impl(*this).parameters();
}

const Arguments &Call::arguments() const
{
    return *impl(*this).given;
}

std::size_t Call::bytes(std::size_t parameter) const
{
    return impl(*this).bytes(parameter);
}

std::size_t Call::records(std::size_t parameter) const
{
    return impl(*this).records(parameter);
}

void Call::end_stream()
{
    impl(*this).signals.end_of_stream = true;
}

void Call::report(const std::string &error)
{
    impl(*this).signals.error = std::make_shared<const std::string>(error);
}

const PortOptions &Port::options() const
{
    return impl(*this).options();
}

std::string Port::full_name() const
{
    return impl(*this).full_name();
}

bool Port::takes() const
{
    return impl(*this).takes();
}

bool Port::gives() const
{
    return impl(*this).gives();
}

bool Port::is_parameter() const
{
    return impl(*this).is_parameter();
}

bool Port::is_moved() const
{
    return impl(*this).is_moved();
}

bool Port::is_variable() const
{
    return impl(*this).is_variable();
}

std::size_t Port::index() const
{
    return impl(*this).index();
}

std::size_t Port::records(const Datablock &block) const
{
    return impl(*this).records(block);
}

const Task &Port::task() const
{
    return impl(*this).task();
}

void Port::check_type(const std::type_info &type) const
{
    impl(*this).check_type(type);
}

PortState Port::state() const
{
    return impl(*this).state();
}

const std::string &Task::name() const
{
    return impl(*this).name();
}

Port &Task::operator[](const std::string &port)
{
    return impl(*this)[port];
}

State Task::state() const
{
    return impl(*this).state();
}

std::uint64_t Task::completed() const
{
    return impl(*this).completed();
}

std::uint64_t Task::skipped() const
{
    return impl(*this).skipped();
}

std::uint64_t Task::lowered() const
{
    return impl(*this).lowered();
}

void Task::set_priority(int priority)
{
    impl(*this).set_priority(priority);
}

void Task::set_proxy_priority(int priority)
{
    impl(*this).set_proxy_priority(priority);
}

void Task::set_geometry(const Geometry &geometry)
{
    impl(*this).set_geometry(geometry);
}

std::vector<Port *> Task::ports() const
{
    return pointers_to<Port>(impl(*this).ports());
}

bool Task::is_on_host() const
{
    return impl(*this).is_on_host();
}

const std::vector<device::Device *> &Task::devices() const
{
    return impl(*this).devices();
}

const std::vector<std::string> &Task::left_out() const
{
    return impl(*this).left_out();
}

bool Input::push(DatablockPtr block, Timeout timeout)
{
    return send({std::move(block)}, timeout);
}

bool Input::send(Item &&item, Timeout timeout, const std::stop_token &stop)
{
    return impl(*this).send(std::move(item), timeout, stop);
}

const Port &Input::port() const
{
    return impl(*this).port();
}

Depth Input::depth() const
{
    return impl(*this).depth();
}

DatablockPtr Output::pull(Timeout timeout)
{
    std::optional<Item> item = take_before_end(timeout);
    if (item && item->error)
        throw Error(*item->error);
    return item ? std::move(item->block) : nullptr;
}

std::optional<Item> Output::take(Timeout timeout, const std::stop_token &stop)
{
    return impl(*this).take(timeout, stop);
}

std::optional<Item> Output::take_before_end(Timeout timeout, const std::stop_token &stop)
{
    return impl(*this).take_before_end(timeout, stop);
}

void Output::give_back(Item &&item)
{
    impl(*this).give_back(std::move(item));
}

int Output::descriptor()
{
    return impl(*this).descriptor();
}

const Port &Output::port() const
{
    return impl(*this).port();
}

Depth Output::depth() const
{
    return impl(*this).depth();
}

Graph::Graph(const GraphOptions &options) : impl_(std::make_unique<GraphImpl>(options)) {}

Graph::~Graph() = default;

Task &Graph::cuda(const std::string &name, const Kernel &kernel, const std::vector<PortOptions> &ports)
{
    return impl_->cuda(name, kernel, ports);
}

Task &Graph::cuda_image(const std::string &name, const Image &image, const std::vector<PortOptions> &ports)
{
    return impl_->cuda_image(name, image, ports);
}

Task &Graph::cuda_call(const std::string &name, StreamFunction function, const std::vector<PortOptions> &ports)
{
    return impl_->cuda_call(name, std::move(function), ports);
}

Task &Graph::cuda_source(const std::string &name, const Source &source, const std::vector<PortOptions> &ports)
{
    return impl_->cuda_source(name, source, ports);
}

Task &Graph::opencl(const std::string &name, const Source &source, const std::vector<PortOptions> &ports)
{
    return impl_->opencl(name, source, ports);
}

Task &Graph::kernel(const std::string &name, const DeviceKernel &kernel, const std::vector<PortOptions> &ports)
{
    return impl_->kernel(name, kernel, ports);
}

Task &Graph::host(const std::string &name, HostFunction function, const std::vector<PortOptions> &ports, Calls calls)
{
    return impl_->host(name, std::move(function), ports, calls);
}

Task &Graph::callback(const std::string &name, Callback function, const std::vector<PortOptions> &ports, Calls calls)
{
    return impl_->callback(name, std::move(function), ports, calls);
}

void Graph::connect(Port &from, Port &to, std::size_t capacity)
{
    impl_->connect(impl(from), impl(to), capacity);
}

void Graph::loop(Port &from, Port &to, Port &again)
{
    impl_->loop(impl(from), impl(to), impl(again));
}

Input &Graph::input(Port &to, std::size_t capacity)
{
    return impl_->input(impl(to), capacity);
}

void Graph::connect(Input &from, Port &to, std::size_t capacity)
{
    impl_->connect(impl(from), impl(to), capacity);
}

Output &Graph::output(Port &from, std::size_t capacity)
{
    return impl_->output(impl(from), capacity);
}

void Graph::run()
{
    impl_->run();
}

void Graph::stop()
{
    impl_->stop();
}

bool Graph::drain(Timeout timeout)
{
    return impl_->drain(timeout);
}

bool Graph::is_stopped() const
{
    return impl_->is_stopped();
}

void Graph::work_for(int pidfd)
{
    impl_->work_for(pidfd);
}

std::vector<DeviceCounters> Graph::counters() const
{
    return impl_->counters();
}

std::string Graph::timeline() const
{
    return impl_->timeline();
}

std::vector<Task *> Graph::tasks() const
{
    return pointers_to<Task>(impl_->tasks_);
}

} // namespace ptsched::ptask
