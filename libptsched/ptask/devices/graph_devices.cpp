// SPDX-License-Identifier: MIT
#include "libptsched/ptask/devices/graph_devices.hpp"

#include "libptsched/ptask/devices/arbiter.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

namespace ptsched::ptask {

namespace {

/* Queues of a device; the host has as many as it needs. */
constexpr unsigned gpu_lanes = 4;
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

/* Seconds of its place's time that it has had; of the host, that it has worked, however late its thread was woken. */
double share_of(const Lane &lane, Clock::time_point now)
{
    const double share = lane.place->shared_until(now, 0);
    return lane.queue->worked().value_or(share);
}

/* In how many seconds its inputs are there, at the latest. */
double ready_in(const Run &run)
{
    double seconds = 0;
    for (const Writer &writer : run.writers)
        if (const Lane *lane = lane_of(writer))
            seconds = std::max(seconds, lane->place->seconds);
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
        if (other != &device && other != &device::host() && !block.missing(*other))
            return true;
    }
    return false;
}

bool is_only_on(const Datablock &block, const device::Device &device)
{
    const bool on_host_too = &device != &device::host() && !block.missing(device::host());
    return !on_host_too && !is_on_other(block, device) && !block.missing(device);
}

bool Place::full() const
{
    if (make_queue)
        return has_many_functions();
    if (runs >= lanes.size() * most_in_lane || (rival && !rival->may_begin()))
        return true;
    return attachment && runs && !attachment->has_room(seconds);
}

/* Never while all that it has are at work: they may wait for what the next one brings. */
bool Place::has_many_functions() const
{
    if (!functions->has_waiting())
        return false;
    const std::size_t width = at_once ? at_once : device::HostPool::get().at_once();
    const bool long_ones = seconds >= static_cast<double>(width) * seconds_in_lane;
    return runs >= width * most_in_lane || (long_ones && lanes.size() - idle.size() >= width * few_in_lane);
}

Lane &Place::idle_lane()
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

double Place::shared_until(Clock::time_point now, int more)
{
    if (sharers && now > shared_at)
        share += Seconds(now - shared_at).count() / static_cast<double>(sharers);
    shared_at = std::max(shared_at, now);
    sharers += static_cast<std::size_t>(more);
    return share;
}

void Place::settle()
{
    for (const auto &lane : lanes)
        device::settle(*lane->queue);
}

void Place::keeps_up(Lane &lane, bool yes)
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

std::unique_ptr<Place> Places::make_place(device::Device &device, const Tell &tell) const
{
    know(device);
    std::unique_ptr<Place> place(new Place{&device, {}, 0, device.strength(), 0, 0, {device.name()}});
    auto make_queue = [ended = tell.ended](std::unique_ptr<device::Queue> queue) {
        queue->tell(ended);
        return queue;
    };
    if (&device == &device::host()) {
        place->functions = std::make_shared<device::HostGroup>(options_.host_functions);
        place->at_once = options_.host_functions;
        place->make_queue = [=, group = place->functions] { return make_queue(device::make_host_queue(group)); };
        return place;
    }
    place->attachment = Attachment::open(device.name(), device.bus_address(), options_.attach, tell.may_begin);
    place->rival = std::make_unique<Rival>(device, tell.may_ask);
    for (; place->lane_count < gpu_lanes; place->lane_count++)
        place->lanes.emplace_back(new Lane{place.get(), {}, 0, 0, {}, make_queue(device.make_queue())});
    return place;
}

std::vector<std::unique_ptr<Place>> Places::make(const std::vector<std::unique_ptr<TaskImpl>> &tasks,
                                                 const Tell &tell) const
{
    std::vector<std::unique_ptr<Place>> made;
    for (const auto &task : tasks)
        for (device::Device *device : task->devices_)
            if (std::ranges::none_of(made, [&](const auto &place) { return place->device == device; }))
                made.push_back(make_place(*device, tell));
    return made;
}

std::vector<Place *> Places::of(const std::vector<device::Device *> &devices) const
{
    std::vector<Place *> found;
    for (const device::Device *device : devices)
        for (const auto &place : all)
            if (place->device == device)
                found.push_back(place.get());
    return found;
}

void Places::quit()
{
    for (auto &place : all)
        if (place->attachment) {
            place->settle();
            settle(place->device->outgoing());
            place->attachment->quit();
        }
    for (auto &place : all)
        if (place->rival)
            place->rival->leave();
    /* They may be long, and keep nobody from a device. */
    for (auto &place : all)
        if (!place->attachment)
            place->settle();
}

void Places::close()
{
    for (auto &place : all) {
        place->idle.clear();
        place->lanes.clear();
    }
    for (auto &place : all)
        place->attachment.reset();
}

bool Places::hold(const TaskImpl &task)
{
    bool any = false;
    for (Place *place : task.places_) {
        if (place->attachment)
            place->held = place->attachment->begin();
        any = any || place->held;
    }
    return any;
}

void Places::let_go(const TaskImpl &task)
{
    for (Place *place : task.places_)
        if (place->attachment && place->held && !std::exchange(place->used, false))
            place->attachment->ended(false);
}

bool Places::attached() const
{
    return std::any_of(all.begin(), all.end(), [](const auto &place) { return place->attachment != nullptr; });
}

void Places::rest()
{
    for (const auto &place : all)
        if (place->rival)
            place->rival->rest();
}

bool Places::full(bool host) const
{
    return std::all_of(all.begin(), all.end(),
                       [&](const auto &place) { return (place->device == &device::host()) != host || place->full(); });
}

Places::Moved Places::missing(const Run &run, const Place &place)
{
    Moved moved;
    for_inputs(run, [&](const Datablock &block, const Writer &) {
        if (std::size_t bytes = block.missing(*place.device)) {
            moved.blocks++;
            moved.bytes += bytes;
        }
    });
    return moved;
}

/* When it would begin there, after what is there already; no place has its inputs before @ready. */
double Places::cost(const Place &place, const Moved &moved, double ready) const
{
    return std::max(place.seconds, ready) + static_cast<double>(moved.bytes) / options_.moving.bytes_per_second +
           static_cast<double>(moved.blocks) * Seconds(options_.moving.block).count();
}

std::size_t Places::where_it_begins_first(const Run &run) const
{
    const auto &places = run.task->places_;
    std::size_t home = 0, best = 0;
    double home_cost = 0, best_cost = 0, ready = ready_in(run);
    std::uint64_t least = 0;
    bool first = true;

    for (std::size_t i = 0; i < places.size(); i++) {
        if (!places[i]->held)
            continue;
        Moved moved = missing(run, *places[i]);
        double there = cost(*places[i], moved, ready);
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

std::size_t Places::choose(const Run &run)
{
    const auto &places = run.task->places_;
    if (places.size() == 1)
        return 0;
    if (options_.mode == Mode::data_aware)
        return where_it_begins_first(run);
    if (options_.mode == Mode::first_available) {
        std::size_t last = places.size();
        for (std::size_t i = 0; i < places.size(); i++) {
            const Place &place = *places[++turn_ % places.size()];
            if (!place.held)
                continue;
            last = turn_ % places.size();
            if (!place.full())
                break;
        }
        return last;
    }
    const bool by_strength = options_.mode == Mode::priority;
    auto load = [&](const Place &place) {
        return static_cast<double>(place.runs + 1) / (by_strength ? place.strength : 1);
    };
    auto fewer = [&](const Place *a, const Place *b) { return a->held != b->held ? a->held : load(*a) < load(*b); };
    return static_cast<std::size_t>(std::min_element(places.begin(), places.end(), fewer) - places.begin());
}

bool Places::takes(const TaskImpl &task)
{
    if (task.concurrent_ || task.in_lane_ < few_in_lane)
        return true;
    return task.in_lane_ < most_of_one && task.in_lane_ * task.run_time_.value() < seconds_in_lane;
}

/* Behind the run that writes an input, if nothing else came there: it needs no event. Else the shortest. */
Lane &Places::choose_lane(const Run &run, Place &place)
{
    if (place.make_queue)
        return run.task->lane_ ? *run.task->lane_ : place.idle_lane();
    if (place.lanes.size() == 1)
        return *place.lanes[0];
    if (place.narrow)
        return *place.narrow;
    for (const Writer &writer : run.writers) {
        Lane *lane = lane_of(writer);
        if (lane && lane->place == &place && lane->runs[lane->runs.size() - 1] == writer.run)
            return *lane;
    }
    auto shorter = [](const auto &a, const auto &b) { return a->runs.size() < b->runs.size(); };
    return **std::min_element(place.lanes.begin(), place.lanes.end(), shorter);
}

void Places::count(Run &run, Place &place) const
{
    DeviceCounters &counts = place.counts;
    counts.runs++;
    run.uploaded = run.migrated = 0;
    if (place.device == &device::host())
        return;
    for_inputs(run, [&](const Datablock &block, const Writer &writer) {
        const Lane *lane = lane_of(writer);
        std::size_t bytes = lane && lane->place == &place ? 0 : block.missing(*place.device);
        if (!bytes)
            return;
        const bool elsewhere = is_on_other(block, *place.device);
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
double Places::charge(const Run &run) const
{
    const double kernel = run.task->kernel_time_.value();
    return Arbiter::charge(kernel > 0 ? kernel : run.seconds, run.task->priority(options_.weights));
}

/* By events: ptsched wants to know it, and graphs that share a device do. */
bool Places::wants_measure(const Run &run, Place &place)
{
    if (place.attachment)
        return place.attachment->wants_measure();
    if (!place.rival || place.rival->alone() ||
        (run.task->kernel_time_.count() >= enough_measures && run.began - place.measured < time_for_a_measure))
        return false;
    place.measured = run.began;
    return true;
}

double Places::expected(const TaskImpl &task, const Place &place) const
{
    const double known = task.run_time_.value();
    if (known > 0 || place.device == &device::host())
        return known;
    /* In company, few of those whose time nobody knows. */
    if (place.attachment)
        return unknown_seconds_attached;
    return run_time_.value() > 0 ? run_time_.value() : unknown_seconds;
}

void Places::begin(Run &run, Lane &lane)
{
    Place &place = *lane.place;
    count(run, place);
    run.lane = &lane;
    place.used = true;
    run.seconds = expected(*run.task, place);
    run.watched = wants_measure(run, place);
    if (place.rival)
        place.rival->begin(run.seconds, charge(run));
    for (const auto &other : all)
        if (other->rival && other.get() != &place)
            other->rival->rest();
    place.occupy(1, run.seconds);
    place.wide_left -= place.wide_left > 0;
    if (lane.runs.empty()) {
        place.shared_until(run.began, 1);
        lane.share = share_of(lane, run.began);
    }
    lane.runs.push_back(&run);
    lane.given++;
    run.task->in_lane_++;
    if (place.make_queue && !run.task->concurrent_)
        run.task->lane_ = &lane;
    /* One that goes on in other queues, too, or to the world, is not to seem to end later than it does. */
    run.asked = lane.given % runs_for_a_marker == 0 || run.late || run.timed || run.task->outer_ ||
                (run.task->followers_ > 1 && !place.narrow);
}

double Places::taken(Lane &lane, Clock::time_point now)
{
    const double share = share_of(lane, now);
    return share - std::exchange(lane.share, share);
}

void Places::end(Run &run, Clock::time_point now, double seconds, Ready &ready)
{
    Lane &lane = *run.lane;

    lane.runs.pop_front();
    lane.last_end = now;
    if (!--run.task->in_lane_)
        run.task->lane_ = nullptr;
    if (lane.runs.empty()) {
        lane.place->shared_until(now, -1);
        if (lane.place->make_queue)
            lane.place->idle.push_back(&lane);
    }
    lane.place->vacate(1, run.seconds);
    if (lane.place->rival)
        lane.place->rival->ended(run.seconds);
    run.task->run_time_.add(seconds);
    if (lane.place->device != &device::host())
        run_time_.add(seconds);
    ready.ran(seconds);
    run.lane = nullptr;
}

} // namespace ptsched::ptask
