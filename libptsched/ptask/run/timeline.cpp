// SPDX-License-Identifier: MIT
#include "libptsched/ptask/run/timeline.hpp"

#include <algorithm>
#include <cstdio>
#include <unordered_map>

namespace ptsched::ptask {

namespace {

/* Of those that are kept, for a graph that never ends. */
constexpr std::size_t most_events = 1000000;
/* The group of rows with the tasks; those of devices follow it. */
constexpr unsigned tasks_group = 1;

std::string quoted(const std::string &text)
{
    std::string out = "\"";
    for (char c : text) {
        char code[8];
        if (static_cast<unsigned char>(c) < 0x20) {
            std::snprintf(code, sizeof(code), "\\u%04x", static_cast<unsigned>(c));
            out += code;
            continue;
        }
        if (c == '"' || c == '\\')
            out += '\\';
        out += c;
    }
    return out + '"';
}

std::string head(const char *kind, const std::string &name, unsigned group, unsigned row)
{
    return std::string("{\"ph\":\"") + kind + "\",\"name\":" + quoted(name) + ",\"pid\":" + std::to_string(group) +
           ",\"tid\":" + std::to_string(row);
}

/* The name of a group of rows, or of a row. */
std::string label(const char *what, const std::string &name, unsigned group, unsigned row)
{
    return head("M", what, group, row) + ",\"args\":{\"name\":" + quoted(name) + "}},\n";
}

/* Exactly, so that what does not overlap does not seem to. */
std::string microseconds(Clock::duration time)
{
    char text[48];
    long long ns = std::chrono::nanoseconds(time).count();
    std::snprintf(text, sizeof(text), "%lld.%03lld", ns / 1000, ns % 1000);
    return text;
}

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
    std::string out =
        "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"lost events\":" + std::to_string(lost_) + "},\"traceEvents\":[\n";
    std::unordered_map<const TaskImpl *, unsigned> rows;
    std::unordered_map<const device::Device *, unsigned> groups;

    out += label("process_name", "tasks", tasks_group, 0);
    for (const auto &task : tasks) {
        unsigned row = rows[task.get()] = static_cast<unsigned>(rows.size()) + 1;
        out += label("thread_name", task->name(), tasks_group, row);
    }
    for (const auto &graph_device : graph_devices.all) {
        unsigned group = groups[graph_device->device] = tasks_group + 1 + static_cast<unsigned>(groups.size());
        /* Several may have the same name. */
        out += label("process_name", graph_device->device->name() + " #" + std::to_string(groups.size()), group, 0);
        for (unsigned row = 1; row <= graph_device->lane_count; row++)
            out += label("thread_name", "queue " + std::to_string(row), group, row);
        for (const auto &[replay, graph] : graphs_)
            if (graph.device == graph_device->device)
                out +=
                    label("thread_name", "CUDA graph " + std::to_string(graph.row - first_graph + 1), group, graph.row);
        out += label("thread_name", "copies from the host", group, from_host);
        out += label("thread_name", "copies from other GPUs", group, from_gpu);
        out += label("thread_name", "copies to the host", group, to_host);
    }
    for (const Event &event : events_) {
        std::string rest = ",\"ts\":" + microseconds(event.began - origin_) +
                           ",\"dur\":" + microseconds(event.ended - event.began) +
                           (event.bytes ? ",\"args\":{\"bytes\":" + std::to_string(event.bytes) + "}" : "") + "},\n";
        std::string name = event.task->name() + (event.more ? " and " + std::to_string(event.more) + " more" : "");
        if (event.row != only_task)
            out += head("X", name, groups[event.device], event.row) + rest;
        if (event.row < from_host)
            out += head("X", event.device->name(), tasks_group, rows[event.task]) + rest;
    }
    out.resize(out.size() - 2);
    return out + "\n]}\n";
}

} // namespace ptsched::ptask
