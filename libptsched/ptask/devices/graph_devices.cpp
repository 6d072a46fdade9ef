// SPDX-License-Identifier: MIT
#include "libptsched/ptask/devices/graph_devices.hpp"

#include "libptsched/ptask/devices/arbiter.hpp"
#include <ptsched/device/residents.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

namespace ptsched::ptask {

namespace {

/*
 * Queues of a device; the host has as many as it needs. Where what is in one cannot wait for what is in another, a
 * device has something to do only in those that have, one after another.
 */
constexpr unsigned gpu_lanes = 4, unordered_lanes = 64;
/* Given to a queue and not ended: enough to keep a device busy, and few enough to choose among the rest. */
constexpr std::size_t most_in_lane = 32;
/* Of one function of the host: it may wait for what another brings, which then finds room. */
constexpr std::size_t most_of_one = 2 * most_in_lane;
/* Of functions of the host that take long, fewer do: as many as take so long, which is how late a thread may look. */
constexpr std::size_t few_in_lane = 2;
constexpr double seconds_in_lane = 2e-3;
/* Runs in several queues before one is tried again: the more often that was too little, the more. */
constexpr std::size_t fewest_wide = 64, most_wide = 1 << 16;
/* When one has been enough for that long, it is forgotten that it was too little. */
constexpr std::size_t looks_to_forget = 64;
/* Runs of a task that are all measured, where they are at all, and how often one is after that. */
constexpr unsigned enough_measures = 4;
constexpr std::chrono::microseconds time_for_a_measure{250};
/* What a run is expected to take as long as nothing is known: where ptsched bounds what is under way, and elsewhere. */
constexpr double unknown_seconds_attached = 1e-3, unknown_seconds = 1e-5;

/* What a run needs where it runs. */
template <typename Function> void for_inputs(const Run &run, Function function)
{
    for (const auto &port : run.task->ports())
        if (const DatablockPtr &block = run.held[port->index()]; block && port->is_moved())
            function(*block, run.writers[port->index()]);
}

/* The queue that has the run that writes a block, or null. */
Lane *lane_of(const Writer &writer)
{
    return writer.run && writer.run->number == writer.number ? writer.run->lane : nullptr;
}

/* Seconds of its device's time that it has had; of the host, that it has worked, however late its thread was woken. */
double share_of(const Lane &lane, Clock::time_point now)
{
    const double share = lane.graph_device->shared_until(now, 0);
    return lane.queue->worked().value_or(share);
}

/* In how many seconds its inputs are there, at the latest. */
double ready_in(const Run &run)
{
    double seconds = 0;
    for (const Writer &writer : run.writers)
        if (const Lane *lane = lane_of(writer))
            seconds = std::max(seconds, lane->graph_device->seconds);
    return seconds;
}

/* Devices of graphs, of which there are never fewer. */
std::array<std::atomic<device::Device *>, 256> known_devices;

void know(device::Device &device)
{
    for (auto &known : known_devices) {
        device::Device *none = nullptr;
        if (known.compare_exchange_strong(none, &device) || none == &device)
            return;
    }
    throw Error("there are more devices than graphs can use");
}

} // namespace

bool is_on_other(const Datablock &block, const device::Device &device)
{
    for (const auto &known : known_devices) {
        const device::Device *other = known.load();
        if (!other)
            return false;
        if (other != &device && other != &device::host() && !block.missing(*other) &&
            !device::have_one_memory(*other, device))
            return true;
    }
    return false;
}

bool is_only_on(const Datablock &block, const device::Device &device)
{
    const bool on_host_too = &device != &device::host() && !block.missing(device::host());
    return !on_host_too && !is_on_other(block, device) && !block.missing(device);
}

bool GraphDevice::full() const
{
    if (make_queue)
        return has_many_functions();
    if (runs >= lanes.size() * most_in_lane || (device_share && !device_share->may_begin()))
        return true;
    return turns && runs && !turns->has_room(seconds);
}

/* Never while all that it has are at work: they may wait for what the next one brings. */
bool GraphDevice::has_many_functions() const
{
    if (!functions->has_waiting())
        return false;
    const std::size_t width = at_once ? at_once : device::HostPool::get().at_once();
    const bool long_ones = seconds >= static_cast<double>(width) * seconds_in_lane;
    return runs >= width * most_in_lane || (long_ones && lanes.size() - idle.size() >= width * few_in_lane);
}

Lane &GraphDevice::idle_lane()
{
    if (idle.empty()) {
        idle.reserve(lanes.size() + 1);
        lanes.emplace_back(new Lane{this, {}, 0, 0, {}, make_queue()});
        lane_count = static_cast<unsigned>(lanes.size());
        return *lanes.back();
    }
    Lane &lane = *idle.back();
    idle.pop_back();
    return lane;
}

double GraphDevice::shared_until(Clock::time_point now, int more)
{
    if (sharers && now > shared_at)
        share += Seconds(now - shared_at).count() / static_cast<double>(sharers);
    shared_at = std::max(shared_at, now);
    sharers += static_cast<std::size_t>(more);
    return share;
}

void GraphDevice::settle()
{
    for (const auto &lane : lanes)
        device::settle(*lane->queue);
}

void GraphDevice::keeps_up(Lane &lane, bool yes)
{
    if (lanes.size() == 1 || (!narrow && (!yes || wide_left)))
        return;
    if (!narrow) {
        narrow = &lane;
        narrow_looks = 0;
    } else if (yes && ++narrow_looks == looks_to_forget) {
        least_wide = 0;
    } else if (!yes) {
        narrow = nullptr;
        least_wide = std::clamp(2 * least_wide, fewest_wide, most_wide);
        wide_left = least_wide;
    }
}

std::unique_ptr<GraphDevice> GraphDevices::make_graph_device(device::Device &device, const Tell &tell) const
{
    know(device);
    std::unique_ptr<GraphDevice> graph_device(
        new GraphDevice{&device, {}, 0, device.strength(), 0, 0, {device.name()}});
    auto make_queue = [ended = tell.ended](std::unique_ptr<device::Queue> queue) {
        queue->tell(ended);
        return queue;
    };
    if (&device == &device::host()) {
        graph_device->functions = device::HostGroup::make(options_.host_functions);
        graph_device->at_once = options_.host_functions;
        graph_device->make_queue = [=, group = graph_device->functions] {
            return make_queue(device::make_host_queue(group));
        };
        return graph_device;
    }
    graph_device->turns = device::Turns::open(device, options_.attach,
                                              {.may_begin = tell.may_begin, .user = "graph", .library = "ptask"});
    graph_device->device_share = std::make_unique<DeviceShare>(device, tell.may_ask);
    const unsigned lanes = device.orders_others() ? gpu_lanes : unordered_lanes;
    for (; graph_device->lane_count < lanes; graph_device->lane_count++)
        graph_device->lanes.emplace_back(new Lane{graph_device.get(), {}, 0, 0, {}, make_queue(device.make_queue())});
    return graph_device;
}

std::vector<std::unique_ptr<GraphDevice>> GraphDevices::make(const std::vector<std::unique_ptr<TaskImpl>> &tasks,
                                                             const Tell &tell) const
{
    std::vector<std::unique_ptr<GraphDevice>> made;
    for (const auto &task : tasks)
        for (device::Device *device : task->devices_)
            if (std::ranges::none_of(made, [&](const auto &graph_device) { return graph_device->device == device; }))
                made.push_back(make_graph_device(*device, tell));
    return made;
}

std::vector<GraphDevice *> GraphDevices::of(const std::vector<device::Device *> &devices) const
{
    std::vector<GraphDevice *> found;
    for (const device::Device *device : devices)
        for (const auto &graph_device : all)
            if (graph_device->device == device)
                found.push_back(graph_device.get());
    return found;
}

void GraphDevices::quit()
{
    for (auto &graph_device : all)
        if (graph_device->turns) {
            graph_device->settle();
            settle(graph_device->device->outgoing());
            graph_device->turns->quit();
        }
    for (auto &graph_device : all)
        if (graph_device->device_share)
            graph_device->device_share->leave();
    /* They may be long, and keep nobody from a device. */
    for (auto &graph_device : all)
        if (!graph_device->turns)
            graph_device->settle();
}

void GraphDevices::close()
{
    for (auto &graph_device : all) {
        graph_device->idle.clear();
        graph_device->lanes.clear();
    }
    for (auto &graph_device : all)
        graph_device->turns.reset();
}

bool GraphDevices::hold(const TaskImpl &task)
{
    bool any = false;
    for (GraphDevice *graph_device : task.graph_devices_) {
        if (graph_device->turns)
            graph_device->held = graph_device->turns->begin();
        any = any || graph_device->held;
    }
    return any;
}

void GraphDevices::let_go(const TaskImpl &task)
{
    for (GraphDevice *graph_device : task.graph_devices_)
        if (graph_device->turns && graph_device->held && !std::exchange(graph_device->used, false))
            graph_device->turns->ended(false);
}

bool GraphDevices::attached() const
{
    return std::any_of(all.begin(), all.end(), [](const auto &graph_device) { return graph_device->turns != nullptr; });
}

void GraphDevices::rest()
{
    for (const auto &graph_device : all)
        if (graph_device->device_share)
            graph_device->device_share->rest();
}

bool GraphDevices::full(bool host) const
{
    return std::all_of(all.begin(), all.end(), [&](const auto &graph_device) {
        return (graph_device->device == &device::host()) != host || graph_device->full();
    });
}

GraphDevices::Moved GraphDevices::missing(const Run &run, const GraphDevice &graph_device)
{
    Moved moved;
    for_inputs(run, [&](const Datablock &block, const Writer &) {
        if (std::size_t bytes = block.missing(*graph_device.device)) {
            moved.blocks++;
            moved.bytes += bytes;
        }
    });
    return moved;
}

/* When it would begin there, after what is there already; no device has its inputs before @ready. */
double GraphDevices::cost(const GraphDevice &graph_device, const Moved &moved, double ready) const
{
    return std::max(graph_device.seconds, ready) + static_cast<double>(moved.bytes) / options_.moving.bytes_per_second +
           static_cast<double>(moved.blocks) * Seconds(options_.moving.block).count();
}

std::size_t GraphDevices::where_it_begins_first(const Run &run) const
{
    const auto &graph_devices = run.task->graph_devices_;
    std::size_t home = 0, best = 0;
    double home_cost = 0, best_cost = 0, ready = ready_in(run);
    std::uint64_t least = 0;
    bool first = true;

    for (std::size_t i = 0; i < graph_devices.size(); i++) {
        if (!graph_devices[i]->held)
            continue;
        Moved moved = missing(run, *graph_devices[i]);
        double there = cost(*graph_devices[i], moved, ready);
        if (first || moved.bytes < least || (moved.bytes == least && there < home_cost)) {
            home = i;
            home_cost = there;
            least = moved.bytes;
        }
        if (first || there < best_cost) {
            best = i;
            best_cost = there;
        }
        first = false;
    }
    double bound = best_cost * options_.moving.factor + Seconds(options_.moving.margin).count();
    return bound < home_cost ? best : home;
}

std::size_t GraphDevices::choose(const Run &run)
{
    const auto &graph_devices = run.task->graph_devices_;
    if (graph_devices.size() == 1)
        return 0;
    if (options_.mode == Mode::data_aware)
        return where_it_begins_first(run);
    if (options_.mode == Mode::first_available) {
        std::size_t last = graph_devices.size();
        for (std::size_t i = 0; i < graph_devices.size(); i++) {
            const GraphDevice &graph_device = *graph_devices[++turn_ % graph_devices.size()];
            if (!graph_device.held)
                continue;
            last = turn_ % graph_devices.size();
            if (!graph_device.full())
                break;
        }
        return last;
    }
    const bool by_strength = options_.mode == Mode::priority;
    auto load = [&](const GraphDevice &graph_device) {
        return static_cast<double>(graph_device.runs + 1) / (by_strength ? graph_device.strength : 1);
    };
    auto fewer = [&](const GraphDevice *a, const GraphDevice *b) {
        return a->held != b->held ? a->held : load(*a) < load(*b);
    };
    return static_cast<std::size_t>(std::min_element(graph_devices.begin(), graph_devices.end(), fewer) -
                                    graph_devices.begin());
}

bool GraphDevices::takes(const TaskImpl &task)
{
    if (task.concurrent_ || task.in_lane_ < few_in_lane)
        return true;
    return task.in_lane_ < most_of_one && task.in_lane_ * task.run_time_.value() < seconds_in_lane;
}

/* Behind the run that writes an input, if nothing else came there: it needs no event. Else the shortest. */
Lane &GraphDevices::choose_lane(const Run &run, GraphDevice &graph_device)
{
    if (graph_device.make_queue)
        return run.task->lane_ ? *run.task->lane_ : graph_device.idle_lane();
    if (graph_device.lanes.size() == 1)
        return *graph_device.lanes[0];
    if (graph_device.narrow)
        return *graph_device.narrow;
    for (const Writer &writer : run.writers) {
        Lane *lane = lane_of(writer);
        if (lane && lane->graph_device == &graph_device && lane->runs[lane->runs.size() - 1] == writer.run)
            return *lane;
    }
    auto shorter = [](const auto &a, const auto &b) { return a->runs.size() < b->runs.size(); };
    return **std::min_element(graph_device.lanes.begin(), graph_device.lanes.end(), shorter);
}

void GraphDevices::count(Run &run, GraphDevice &graph_device) const
{
    DeviceCounters &counts = graph_device.counts;
    counts.runs++;
    run.uploaded = run.migrated = 0;
    if (graph_device.device == &device::host())
        return;
    for_inputs(run, [&](const Datablock &block, const Writer &writer) {
        const Lane *lane = lane_of(writer);
        std::size_t bytes = lane && lane->graph_device == &graph_device ? 0 : block.missing(*graph_device.device);
        if (!bytes)
            return;
        const bool elsewhere = is_on_other(block, *graph_device.device);
        (elsewhere ? counts.blocks_migrated : counts.blocks_uploaded)++;
        (elsewhere ? run.migrated : run.uploaded) += bytes;
    });
    counts.bytes_uploaded += run.uploaded;
    counts.bytes_migrated += run.migrated;
}

/*
 * What passes between the ends of runs is other graphs' work, too: by that, who gets less would seem to need more. The
 * shortest of what events tell has the least of it.
 */
double GraphDevices::charge(const Run &run) const
{
    const double kernel = run.task->kernel_time_.value();
    return Arbiter::charge(kernel > 0 ? kernel : run.seconds, run.task->priority(options_.weights));
}

/* By events: ptsched wants to know it, and graphs that share a device do. */
bool GraphDevices::wants_measure(const Run &run, GraphDevice &graph_device)
{
    if (graph_device.turns)
        return graph_device.turns->wants_measure();
    if (!graph_device.device_share || graph_device.device_share->alone() ||
        (run.task->kernel_time_.count() >= enough_measures && run.began - graph_device.measured < time_for_a_measure))
        return false;
    graph_device.measured = run.began;
    return true;
}

double GraphDevices::expected(const TaskImpl &task, const GraphDevice &graph_device) const
{
    const double known = task.run_time_.value();
    if (known > 0 || graph_device.device == &device::host())
        return known;
    /* In company, few of those whose time nobody knows. */
    if (graph_device.turns)
        return unknown_seconds_attached;
    return run_time_.value() > 0 ? run_time_.value() : unknown_seconds;
}

void GraphDevices::begin(Run &run, Lane &lane)
{
    GraphDevice &graph_device = *lane.graph_device;
    count(run, graph_device);
    run.lane = &lane;
    graph_device.used = true;
    run.seconds = expected(*run.task, graph_device);
    run.watched = wants_measure(run, graph_device);
    if (graph_device.device_share)
        graph_device.device_share->begin(run.seconds, charge(run));
    for (const auto &other : all)
        if (other->device_share && other.get() != &graph_device)
            other->device_share->rest();
    graph_device.occupy(1, run.seconds);
    graph_device.wide_left -= graph_device.wide_left > 0;
    if (lane.runs.empty()) {
        graph_device.shared_until(run.began, 1);
        lane.share = share_of(lane, run.began);
    }
    lane.runs.push_back(&run);
    lane.given++;
    run.task->in_lane_++;
    if (graph_device.make_queue && !run.task->concurrent_)
        run.task->lane_ = &lane;
    /* One that goes on in other queues, too, or to the world, is not to seem to end later than it does. */
    run.asked = lane.given % runs_for_a_marker == 0 || run.late || run.timed || run.task->outer_ ||
                (run.task->followers_ > 1 && !graph_device.narrow);
}

double GraphDevices::taken(Lane &lane, Clock::time_point now)
{
    const double share = share_of(lane, now);
    return share - std::exchange(lane.share, share);
}

void GraphDevices::end(Run &run, Clock::time_point now, double seconds, Ready &ready)
{
    Lane &lane = *run.lane;

    lane.runs.pop_front();
    lane.last_end = now;
    if (!--run.task->in_lane_)
        run.task->lane_ = nullptr;
    if (lane.runs.empty()) {
        lane.graph_device->shared_until(now, -1);
        if (lane.graph_device->make_queue)
            lane.graph_device->idle.push_back(&lane);
    }
    lane.graph_device->vacate(1, run.seconds);
    if (lane.graph_device->device_share)
        lane.graph_device->device_share->ended(run.seconds);
    run.task->run_time_.add(seconds);
    if (lane.graph_device->device != &device::host())
        run_time_.add(seconds);
    ready.ran(seconds);
    run.lane = nullptr;
}

} // namespace ptsched::ptask
