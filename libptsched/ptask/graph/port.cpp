// SPDX-License-Identifier: MIT
#include "libptsched/ptask/graph/task.hpp"
#include "libptsched/ptask/graph/type_name.hpp"

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

void PortImpl::check_type(const std::type_info &type) const
{
    if (const std::type_info *own = options_.form.type; own && *own != type && type != typeid(std::byte))
        throw Error("port " + full_name() + " has records of " + type_name(*own) + ", not " + type_name(type));
}

std::string PortImpl::full_name() const
{
    return task_.name() + "." + options_.name;
}

} // namespace ptsched::ptask
