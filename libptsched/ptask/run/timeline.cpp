// SPDX-License-Identifier: MIT
#include "libptsched/ptask/run/timeline.hpp"

#include "libptsched/base/trace_events.hpp"

#include <algorithm>
#include <unordered_map>

namespace ptsched::ptask {

namespace {

/* Of those that are kept, for a graph that never ends. */
constexpr std::size_t most_events = 1000000;
/* The group of rows with the tasks; those of devices follow it. */
constexpr unsigned tasks_group = 1;

} // namespace

void Timeline::add(const Event &event)
{
    if (events_.size() < most_events)
        events_.push_back(event);
    else
        lost_++;
}

void Timeline::ran(const Run &run, Clock::time_point now)
{
    const GraphDevice &graph_device = *run.lane->graph_device;
    auto is_lane = [&](const auto &lane) { return lane.get() == run.lane; };
    auto lane =
        std::find_if(graph_device.lanes.begin(), graph_device.lanes.end(), is_lane) - graph_device.lanes.begin();
    add({graph_device.device, static_cast<unsigned>(lane) + 1, run.task, std::max(run.began, run.lane->last_end), now,
         0});
}

void Timeline::moved(const Run &run, Clock::time_point now)
{
    const device::Device *device = run.lane->graph_device->device;
    if (run.uploaded)
        add({device, from_host, run.task, run.began, now, run.uploaded});
    if (run.migrated)
        add({device, from_gpu, run.task, run.began, now, run.migrated});
}

/* One event for the device, one for each direction of copies, and one for each task. */
void Timeline::replayed(const device::Device &device, const Replay &replay, const Subgraph &subgraph,
                        const Replay::Moved &moved, Clock::time_point began, Clock::time_point now)
{
    const std::size_t others_in_subgraph = subgraph.tasks.size() - 1;
    auto on_device = [&](const auto &graph) { return graph.second.device == &device; };
    const auto others = std::count_if(graphs_.begin(), graphs_.end(), on_device);
    GraphImpl &graph =
        graphs_.try_emplace(&replay, GraphImpl{&device, first_graph + static_cast<unsigned>(others), began})
            .first->second;
    add({&device, graph.row, subgraph.tasks.front(), std::max(began, graph.ended), now, 0, others_in_subgraph});
    graph.ended = now;
    for (auto [row, bytes] : {std::pair(from_host, moved.uploaded_bytes), std::pair(from_gpu, moved.migrated_bytes),
                              std::pair(to_host, moved.downloaded_bytes)})
        if (bytes) {
            Clock::time_point &until = copied_.try_emplace({&device, row}, began).first->second;
            add({&device, row, subgraph.tasks.front(), std::max(began, until), now, bytes, others_in_subgraph});
            until = now;
        }
    for (const TaskImpl *task : subgraph.tasks)
        add({&device, only_task, task, began, now, 0});
}

void Timeline::fetched(const device::Device &from, const TaskImpl &by, std::size_t bytes, Clock::time_point began,
                       Clock::time_point now)
{
    add({&from, to_host, &by, began, now, bytes});
}

std::string Timeline::json(const GraphDevices &graph_devices, const std::vector<std::unique_ptr<TaskImpl>> &tasks) const
{
    TraceEvents out(lost_);
    std::unordered_map<const TaskImpl *, unsigned> rows;
    std::unordered_map<const device::Device *, unsigned> groups;

    out.name_group(tasks_group, "tasks");
    for (const auto &task : tasks) {
        unsigned row = rows[task.get()] = static_cast<unsigned>(rows.size()) + 1;
        out.name_row(tasks_group, row, task->name());
    }
    for (const auto &graph_device : graph_devices.all) {
        unsigned group = groups[graph_device->device] = tasks_group + 1 + static_cast<unsigned>(groups.size());
        /* Several may have the same name. */
        out.name_group(group, graph_device->device->name() + " #" + std::to_string(groups.size()));
        for (unsigned row = 1; row <= graph_device->lane_count; row++)
            out.name_row(group, row, "queue " + std::to_string(row));
        for (const auto &[replay, graph] : graphs_)
            if (graph.device == graph_device->device)
                out.name_row(group, graph.row, "CUDA graph " + std::to_string(graph.row - first_graph + 1));
        out.name_row(group, from_host, "copies from the host");
        out.name_row(group, from_gpu, "copies from other GPUs");
        out.name_row(group, to_host, "copies to the host");
    }
    for (const Event &event : events_) {
        const auto begin = event.began - origin_, length = event.ended - event.began;
        std::string name = event.task->name() + (event.more ? " and " + std::to_string(event.more) + " more" : "");
        if (event.row != only_task)
            out.add_span(groups[event.device], event.row, name, begin, length, {{"bytes", event.bytes}});
        if (event.row < from_host)
            out.add_span(tasks_group, rows[event.task], event.device->name(), begin, length, {{"bytes", event.bytes}});
    }
    return out.take_end();
}

} // namespace ptsched::ptask
