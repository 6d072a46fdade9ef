// SPDX-License-Identifier: MIT
#include <ptsched/ptask/graph.hpp>

namespace ptsched::ptask {

void Argument::check_written() const
{
    if (!is_written())
        throw Error("port " + port_.full_name() +
                    " only takes, and others may have its block: an address of what is const, or an inout port");
}

Arguments::Ports arguments_of(const Task &task)
{
    Arguments::Ports ports;
    for (const Port *port : task.ports())
        if (port->is_parameter())
            ports.push_back(port);
    return ports;
}

Argument Arguments::operator[](std::size_t parameter) const
{
    if (parameter < size())
        return {*ports_[parameter], addresses_[parameter]};
    throw Error("there is no parameter " + std::to_string(parameter) + ": the function has " + std::to_string(size()) +
                ", from 0 on, and metadata and conditions are none");
}

} // namespace ptsched::ptask
