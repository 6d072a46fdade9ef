// SPDX-License-Identifier: MIT
#include "libptsched/ptask/graph/parameters.hpp"

#include <algorithm>

namespace ptsched::ptask {

bool has_constants(const std::vector<PortOptions> &ports)
{
    return std::any_of(ports.begin(), ports.end(),
                       [](const PortOptions &port) { return port.form.binding == Binding::constant; });
}

void check_parameters(const std::string &task, const std::string &kernel, const device::Code &code,
                      std::span<const Parameter> given)
{
    auto sizes = code.parameter_sizes();
    std::string wanted, got;
    bool fits = sizes && sizes->size() == given.size();

    if (!sizes)
        return;
    for (std::size_t size : *sizes)
        wanted += " " + std::to_string(size);
    for (std::size_t i = 0; i < given.size(); i++) {
        got += " " + given[i].port + " " + std::to_string(given[i].bytes);
        fits = fits && given[i].bytes == (*sizes)[i];
    }
    if (!fits)
        throw device::Error("task " + task + ": kernel " + kernel + " takes " + std::to_string(sizes->size()) +
                            " parameters, in bytes:" + wanted + "; the ports give " + std::to_string(given.size()) +
                            ":" + got);
    for (std::size_t i = 0; i < given.size(); i++)
        if (const auto address = code.is_address(i); address && *address == given[i].by_value)
            throw device::Error("task " + task + ": kernel " + kernel + " takes " +
                                (given[i].by_value ? "an address" : "a value") + " as parameter " +
                                std::to_string(i + 1) + ", and port " + given[i].port + " is bound " +
                                (given[i].by_value ? "by value: a port in global memory would do"
                                                   : "by address: by_value() or constant() would do"));
}

} // namespace ptsched::ptask
