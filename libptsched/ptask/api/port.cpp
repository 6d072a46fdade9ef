// SPDX-License-Identifier: MIT
#include "libptsched/ptask/api/graph.hpp"
#include "libptsched/ptask/graph/type_name.hpp"
#include "libptsched/ptask/run/scheduler.hpp"

namespace ptsched::ptask {

PortOptions in(std::string name, Template form)
{
    return {std::move(name), PortKind::input, form};
}

PortOptions out(std::string name, Template form)
{
    return {std::move(name), PortKind::output, form};
}

PortOptions sticky(std::string name, Template form)
{
    return {std::move(name), PortKind::sticky, form};
}

PortOptions inout(std::string name, Template form)
{
    return {std::move(name), PortKind::inout, form};
}

PortOptions metadata(std::string name, std::size_t bytes)
{
    return {std::move(name), PortKind::metadata, {{1, 1, 1}, bytes}};
}

PortOptions condition(std::string name, std::size_t bytes)
{
    return {std::move(name), PortKind::condition, {{1, 1, 1}, bytes}};
}

PortOptions value(std::string name, std::size_t bytes)
{
    return by_value(sticky(std::move(name), {{1, 1, 1}, bytes}));
}

PortOptions starting_with(PortOptions port, DatablockPtr initial)
{
    port.initial = std::move(initial);
    return port;
}

PortOptions zeroed(PortOptions port)
{
    const std::vector<std::byte> zeros(port.form.bytes());
    return starting_with(std::move(port), Datablock::of(zeros.data(), zeros.size()));
}

PortOptions sized_by(PortOptions port, std::string other)
{
    port.size_from = std::move(other);
    return port;
}

PortOptions by_value(PortOptions port)
{
    port.form.binding = Binding::by_value;
    return port;
}

void Port::check_type(const std::type_info &type) const
{
    if (const std::type_info *own = options().form.type; own && *own != type && type != typeid(std::byte))
        throw Error("port " + full_name() + " has records of " + type_name(*own) + ", not " + type_name(type));
}

std::string Port::full_name() const
{
    return task().name() + "." + options().name;
}

const PortOptions &Port::options() const
{
    return impl(*this).options();
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

PortState Port::state() const
{
    return impl(*this).task_.graph_.scheduler_->state(impl(*this));
}

} // namespace ptsched::ptask
