// SPDX-License-Identifier: MIT
#include "tools/ptsched/timeline.hpp"

#include "tools/ptsched/format.hpp"

#include <algorithm>

namespace ptsched {

void Timeline::add_device(const Device &device)
{
    DeviceTracks &tracks = devices_[device.id];

    tracks.track = trace_.add_track("GPU " + std::to_string(device.id) + " (" + device.pci + ")", 0);
    tracks.waiting = trace_.add_counter("processes that wait", tracks.track, Unit::Count);
    trace_.count(tracks.waiting, since_ns_, 0);
}

Timeline::Process &Timeline::add_process(DeviceTracks &device, std::uint32_t pid, const std::string &comm)
{
    auto [found, is_new] = device.processes.try_emplace(pid);
    Process &process = found->second;

    if (!is_new)
        return process;
    seen_processes_++;
    process.name = printable_utf8(comm) + " " + std::to_string(pid);
    process.track = trace_.add_track(process.name, device.track);
    process.budget = trace_.add_counter("budget", process.track, Unit::Nanoseconds);
    return process;
}

void Timeline::add_state(const std::vector<Entity> &entities, std::uint64_t until_ns)
{
    until_ns_ = until_ns;
    for (const Entity &entity : entities) {
        auto device = devices_.find(entity.device_id);
        if (device == devices_.end())
            continue;
        Process &process = add_process(device->second, entity.pid, entity.comm);
        process.supposed = true;
        process.leaving = false;
        process.state = entity.state == PTSCHED_ENTITY_HOLDING   ? State::Holding
                        : entity.state == PTSCHED_ENTITY_WAITING ? State::Waiting
                                                                 : State::Idle;
        trace_.count(process.budget, until_ns, entity.budget_ns);
    }
    for (auto &[id, device] : devices_) {
        device.settled = false;
        /* Those that went while events were lost. */
        std::erase_if(device.processes, [](const auto &entry) { return !entry.second.supposed; });
    }
}

void Timeline::settle(DeviceTracks &device)
{
    if (device.settled)
        return;
    device.settled = true;
    for (auto &[pid, process] : device.processes) {
        if (!process.supposed)
            continue;
        const State state = process.state;
        process.supposed = false;
        process.state = State::Idle;
        enter(device, process, state, since_ns_);
    }
    std::erase_if(device.processes, [](const auto &entry) { return has_gone(entry.second); });
}

void Timeline::settle()
{
    for (auto &[id, device] : devices_)
        settle(device);
}

/* What a process does of which this is the first event. */
Timeline::State Timeline::state_before(const Event &event)
{
    switch (event.event) {
    case PTSCHED_EVENT_CALLBACK:
    case PTSCHED_EVENT_PREEMPT:
    case PTSCHED_EVENT_FORCED:
    case PTSCHED_EVENT_RELEASE:
        return State::Holding;
    case PTSCHED_EVENT_CANCEL:
        return State::Waiting;
    default:
        return State::Idle;
    }
}

/* The turn of one that holds it goes to a lane that no other uses. */
void Timeline::take_lane(DeviceTracks &device, Process &process, std::uint64_t ns)
{
    auto free = std::find(device.lane_used.begin(), device.lane_used.end(), false);

    process.lane = static_cast<std::size_t>(free - device.lane_used.begin());
    if (free == device.lane_used.end()) {
        device.lanes.push_back(trace_.add_track("turn", device.track));
        device.lane_used.push_back(true);
    } else {
        *free = true;
    }
    trace_.begin(device.lanes[process.lane], ns, process.name);
}

/* Ends the slices of the present state, and begins those of another. */
void Timeline::enter(DeviceTracks &device, Process &process, State state, std::uint64_t ns,
                     const std::vector<Note> &notes)
{
    const auto change_waiters = [&](std::int64_t by) {
        device.waiters += by;
        trace_.count(device.waiting, ns, device.waiters);
    };

    for (; process.depth; process.depth--)
        trace_.end(process.track, ns);
    if (process.state == State::Holding) {
        trace_.end(process.track, ns);
        trace_.end(device.lanes[process.lane], ns);
        device.lane_used[process.lane] = false;
    } else if (process.state == State::Waiting) {
        trace_.end(process.track, ns);
        change_waiters(-1);
    }
    process.state = state;
    if (state == State::Holding) {
        trace_.begin(process.track, ns, "turn", notes);
        take_lane(device, process, ns);
    } else if (state == State::Waiting) {
        trace_.begin(process.track, ns, "waiting", notes);
        change_waiters(1);
    }
}

/* A slice within the turn, until its end. */
void Timeline::deepen(Process &process, std::uint64_t ns, const char *name)
{
    if (process.state != State::Holding)
        return;
    trace_.begin(process.track, ns, name);
    process.depth++;
}

void Timeline::apply(DeviceTracks &device, Process &process, const Event &event)
{
    switch (event.event) {
    case PTSCHED_EVENT_WAIT:
        return enter(device, process, State::Waiting, event.time_ns, {{"budget_ns", event.budget_ns}});
    case PTSCHED_EVENT_GRANT:
        return enter(device, process, State::Holding, event.time_ns,
                     {{"turn", static_cast<std::int64_t>(event.turn)}, {"budget_ns", event.budget_ns}});
    case PTSCHED_EVENT_CALLBACK:
        return deepen(process, event.time_ns, "called back");
    case PTSCHED_EVENT_PREEMPT:
        return deepen(process, event.time_ns, "taken off");
    case PTSCHED_EVENT_FORCED:
        return trace_.instant(process.track, event.time_ns, "not drained in time");
    case PTSCHED_EVENT_RELEASE:
    case PTSCHED_EVENT_CANCEL:
        return enter(device, process, State::Idle, event.time_ns);
    case PTSCHED_EVENT_EXIT:
        /* What it holds or waits for ends with an event of its own. */
        process.leaving = true;
        return;
    default:
        return;
    }
}

void Timeline::add(Event event)
{
    auto found = devices_.find(event.device_id);
    if (found == devices_.end())
        return;
    DeviceTracks &device = found->second;
    event.time_ns = std::max(event.time_ns, since_ns_);
    device.last_ns = std::max(device.last_ns, event.time_ns);
    if (event.time_ns > until_ns_)
        settle(device);
    if (!event.pid) {
        if (event.event == PTSCHED_EVENT_SETTINGS)
            trace_.instant(device.track, event.time_ns, "settings");
        return;
    }
    const bool is_new = !device.processes.contains(*event.pid);
    /* The rest of one that went, or of which the beginning was lost. */
    if (is_new && event.time_ns > until_ns_ && state_before(event) != State::Idle)
        return;
    Process &process = add_process(device, *event.pid, event.comm);
    if (is_new || process.supposed) {
        process.supposed = false;
        process.state = State::Idle;
        enter(device, process, state_before(event), since_ns_);
    }
    apply(device, process, event);
    trace_.count(process.budget, event.time_ns, event.budget_ns);
    if (device.settled && has_gone(process))
        device.processes.erase(*event.pid);
}

void Timeline::lose(std::uint64_t now_ns)
{
    for (auto &[id, device] : devices_) {
        settle(device);
        const std::uint64_t from_ns = std::max(device.last_ns, since_ns_);
        for (auto &[pid, process] : device.processes)
            enter(device, process, State::Idle, from_ns);
        if (!device.lost)
            device.lost = trace_.add_track("events lost", device.track);
        trace_.begin(device.lost, from_ns, "events lost");
        trace_.end(device.lost, std::max(now_ns, from_ns));
    }
    since_ns_ = now_ns;
}

void Timeline::finish(std::uint64_t now_ns)
{
    settle();
    for (auto &[id, device] : devices_)
        for (auto &[pid, process] : device.processes)
            enter(device, process, State::Idle, std::max(now_ns, device.last_ns));
}

} // namespace ptsched
