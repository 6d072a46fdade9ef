// SPDX-License-Identifier: MIT
#include "libptsched/ptask/graph/constants.hpp"

namespace ptsched::ptask {

Constants::Constants(const TaskImpl &task, const std::string &kernel, const device::Code &code)
{
    for (const auto &port : task.ports()) {
        if (!port->is_variable())
            continue;
        const PortOptions &options = port->options();
        const std::string problem = "task " + task.name() + ": port " + port->full_name() +
                                    " is bound to constant memory, and the module of kernel " + kernel;
        std::optional<device::Code::Variable> variable = code.variable(options.name);
        if (!variable)
            throw Error(problem + " has no variable " + options.name);
        if (options.form.layout == Layout::opaque || options.form.bytes() > variable->bytes)
            throw Error(problem + " has a variable of " + std::to_string(variable->bytes) + " bytes, not for " +
                        options.form.describe());
        constants_.push_back({port->index(), variable->address, nullptr});
    }
}

void Constants::fill(device::Device &device, device::Queue &queue, const Run &run)
{
    if (last_ && queue_ != &queue)
        queue.after(last_);
    for (Constant &constant : constants_) {
        const DatablockPtr &block = run.held[constant.port];
        if (constant.content == block)
            continue;
        if (block->bytes())
            queue.copy(constant.variable, device, run.addresses[constant.port], block->bytes());
        constant.content = block;
    }
}

void Constants::given(const device::Queue &queue, const device::MarkerPtr &marker)
{
    queue_ = &queue;
    last_ = marker;
}

} // namespace ptsched::ptask
