// SPDX-License-Identifier: MIT
#include "parameters.hpp"

namespace ptsched::ptask {

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
}

} // namespace ptsched::ptask
