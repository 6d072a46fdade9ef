// SPDX-License-Identifier: MIT
#include "places.hpp"

#include <algorithm>
#include <array>
#include <atomic>

namespace ptsched::ptask {

namespace {

/* Given to a queue and not ended: enough to keep a device busy, and few enough to choose among the rest. */
constexpr std::size_t most_in_lane = 32;

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

bool is_only_on(const Datablock &block, const device::Device &device)
{
    bool elsewhere = &device != &device::host() && !block.missing(device::host());
    for (const auto &known : known_devices) {
        const device::Device *other = known.load();
        if (!other)
            break;
        elsewhere = elsewhere || (other != &device && !block.missing(*other));
    }
    return !elsewhere && !block.missing(device);
}

bool Place::full() const
{
    return runs >= lanes.size() * most_in_lane;
}

void Places::add(device::Device &device, unsigned lanes)
{
    know(device);
    Place &place = *all.emplace_back(new Place{&device, {}, lanes, 0, 0, {device.name()}});
    for (unsigned i = 0; i < lanes; i++)
        place.lanes.emplace_back(new Lane{&place, {}, {}, device.make_queue()});
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

void Places::close()
{
    for (auto &place : all)
        place->lanes.clear();
}

bool Places::full(bool host) const
{
    return std::all_of(all.begin(), all.end(),
                       [&](const auto &place) { return place->full() || (place->device == &device::host()) != host; });
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

    for (std::size_t i = 0; i < places.size(); i++) {
        Moved moved = missing(run, *places[i]);
        double there = cost(*places[i], moved, ready);
        if (!i || moved.bytes < least || (moved.bytes == least && there < home_cost)) {
            home = i;
            home_cost = there;
            least = moved.bytes;
        }
        if (!i || there < best_cost) {
            best = i;
            best_cost = there;
        }
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
        for (std::size_t i = 0; i < places.size(); i++)
            if (!places[++turn_ % places.size()]->full())
                break;
        return turn_ % places.size();
    }
    auto fewer = [](const Place *a, const Place *b) { return a->runs < b->runs; };
    return static_cast<std::size_t>(std::min_element(places.begin(), places.end(), fewer) - places.begin());
}

/* Behind the run that writes an input, if nothing else came there: it needs no event. Else the shortest. */
Lane &Places::choose_lane(const Run &run, Place &place) const
{
    if (place.lanes.size() == 1)
        return *place.lanes[0];
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
        bool elsewhere = std::any_of(all.begin(), all.end(), [&](const auto &other) {
            return other.get() != &place && other->device != &device::host() && !block.missing(*other->device);
        });
        (elsewhere ? counts.blocks_migrated : counts.blocks_uploaded)++;
        (elsewhere ? run.migrated : run.uploaded) += bytes;
    });
    counts.bytes_uploaded += run.uploaded;
    counts.bytes_migrated += run.migrated;
}

void Places::begin(Run &run, Lane &lane)
{
    Place &place = *lane.place;
    count(run, place);
    run.lane = &lane;
    run.seconds = run.task->run_time_.value();
    place.runs++;
    place.seconds += run.seconds;
    lane.runs.push_back(&run);
}

void Places::end(Run &run, Clock::time_point now, Ready &ready)
{
    Lane &lane = *run.lane;
    double seconds = Seconds(now - std::max(run.began, lane.last_end)).count();

    lane.runs.pop_front();
    lane.last_end = now;
    lane.place->runs--;
    lane.place->seconds = lane.place->runs ? lane.place->seconds - run.seconds : 0;
    run.task->run_time_.add(seconds);
    ready.ran(seconds);
    run.lane = nullptr;
}

} // namespace ptsched::ptask
