/* SPDX-License-Identifier: MIT */
/* Whether a task has what it needs for another run. */
#ifndef PTSCHED_PTASK_GRAPH_READINESS_HPP
#define PTSCHED_PTASK_GRAPH_READINESS_HPP

#include "libptsched/ptask/graph/channel.hpp"

#include <algorithm>

namespace ptsched::ptask {

inline bool has_input(const PortImpl &port) PTASK_LOCKED
{
    const Channel *channel = port.looping_ ? port.loop_ : port.from_;

    if (!port.takes() || (channel && channel->has_token()))
        return true;
    if (port.kind_ == PortKind::sticky)
        return port.kept_ != nullptr;
    return !channel && port.begins_;
}

inline bool has_room(const PortImpl &port) PTASK_LOCKED
{
    return std::ranges::all_of(port.to_, [](const Channel *channel) PTASK_LOCKED { return channel->has_room(); });
}

inline bool has_inputs(const TaskImpl &task) PTASK_LOCKED
{
    return std::ranges::all_of(task.ports_, [](const auto &port) PTASK_LOCKED { return has_input(*port); });
}

inline bool has_inputs_and_room(const TaskImpl &task) PTASK_LOCKED
{
    return std::ranges::all_of(task.ports_,
                               [](const auto &port) PTASK_LOCKED { return has_input(*port) && has_room(*port); });
}

/* Whether something has come for another run, though it may still be on its way to the host. */
inline bool has_part_of_a_run(const TaskImpl &task) PTASK_LOCKED
{
    auto has_any = [](const Channel *channel) PTASK_LOCKED { return channel && !channel->tokens.empty(); };
    return std::ranges::any_of(task.ports_, [&](const auto &port)
                                                PTASK_LOCKED { return has_any(port->from_) || has_any(port->loop_); });
}

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_GRAPH_READINESS_HPP */
