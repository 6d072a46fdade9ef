/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PTASK_GRAPH_PARAMETERS_HPP
#define PTSCHED_PTASK_GRAPH_PARAMETERS_HPP

#include <ptsched/ptask/port.hpp>

#include <span>

namespace ptsched::ptask {

/* What a port gives a kernel. */
struct Parameter {
    std::string port;
    std::size_t bytes; /* of an address, or of the content if it is passed by value */
    bool by_value;
};

/* Whether some are bound to constant memory: then a task has the module of its kernel for itself. */
bool has_constants(const std::vector<PortOptions> &ports);
inline device::Module module_for(const std::vector<PortOptions> &ports)
{
    return has_constants(ports) ? device::Module::own : device::Module::shared;
}

/* Throws Error, with both sides, if a kernel takes something else; not if nobody knows what it takes. */
void check_parameters(const std::string &task, const std::string &kernel, const device::Code &code,
                      std::span<const Parameter> given);

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_GRAPH_PARAMETERS_HPP */
