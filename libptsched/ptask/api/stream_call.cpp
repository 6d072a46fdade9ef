// SPDX-License-Identifier: MIT
/* Tasks that are functions which give a GPU work themselves. */
#include "libptsched/ptask/api/graph.hpp"
#include "libptsched/ptask/graph/call.hpp"
#include "libptsched/ptask/run/scheduler.hpp"
#include <ptsched/ptask/stream_call.hpp>

namespace ptsched::ptask {

/* Launch has put the call behind the parameters. */
StreamCall::StreamCall(const Arguments::Ports &ports, const device::StreamWork &work)
    : ports_(ports), work_(work), call_(*static_cast<const CallImpl *>(*static_cast<void **>(work.arguments.back())))
{
}

const Port &StreamCall::port(std::size_t parameter) const
{
    call_.bytes(parameter); /* throws */
    return *ports_[parameter];
}

Argument StreamCall::operator[](std::size_t parameter) const
{
    const Port &which = port(parameter);
    void *argument = work_.arguments[parameter];
    if (which.options().form.binding == Binding::by_value)
        return {which, argument};
    return {which, device::host_pointer(*static_cast<const device::Address *>(argument))};
}

const void *StreamCall::value_of(std::size_t parameter, std::size_t bytes) const
{
    const PortOptions &options = port(parameter).options();
    if (options.form.binding != Binding::by_value || options.form.bytes() != bytes)
        throw Error("port " + ports_[parameter]->full_name() + " has " + options.form.describe() +
                    (options.form.binding == Binding::by_value ? "" : " in the GPU's memory") + ", and no value of " +
                    std::to_string(bytes) + " bytes");
    return work_.arguments[parameter];
}

std::size_t StreamCall::bytes(std::size_t parameter) const
{
    return call_.bytes(parameter);
}

std::size_t StreamCall::records(std::size_t parameter) const
{
    return call_.records(parameter);
}

Task &Graph::cuda_call(const std::string &name, StreamFunction function, const std::vector<PortOptions> &ports)
{
    if (!function)
        throw Error("task " + name + " has an empty function");
    std::unique_ptr<TaskImpl> task = impl_->make_task(name, ports);
    task->has_call_ = true;
    auto give = [function = std::move(function), parameters = arguments_of(*task),
                 &scheduler = *impl_->scheduler_](const device::StreamWork &work) {
        Scheduler::Calling calling(scheduler);
        StreamCall call(parameters, work);
        function(call);
    };
    for (device::Device *gpu : impl_->gpus_for(name)) {
        task->codes_.push_back(device::cuda_stream_code(*gpu, give));
        task->devices_.push_back(gpu);
    }
    return impl_->add(std::move(task));
}

} // namespace ptsched::ptask
