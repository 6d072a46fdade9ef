// SPDX-License-Identifier: MIT
/* How a set is given to a device, and what is learnt when it has ended. */
#include "libptsched/ptask/replay/replayer.hpp"
#include "libptsched/ptask/time/nvtx.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ptsched::ptask {

namespace {

/* One of so many sets is compared with what its tasks take by themselves. */
constexpr unsigned sets_to_compare = 8;
/* Of so many sets the last counts for what a device works for one. */
constexpr double share_inertia = 32;
/*
 * Queues of a device for sets. The fewer, the nearer they end in the order in which they came, so that who waits for
 * the oldest can go on while a device still has others; with too few, a device that fetches blocks for one computes
 * nothing. Drivers have about as many channels.
 */
constexpr std::size_t most_queues = 8;

} // namespace

/* The last sets may have ended, so that this is a lone one. To ask for several takes too long where sets are short. */
void Replayer::look_for_last(const ReplayedSubgraph &replayed)
{
    constexpr std::size_t few = 4;
    const std::size_t most = replayed.may_double_buffer ? few : replayed.spared_seconds > 0;
    if (flying_ && flying_ <= most)
        poll();
}

/* The device has nothing else to do than so much of its own, and the set's program may do something else for that. */
bool Replayer::is_lone(const ReplayedSubgraph &replayed, std::size_t own_runs)
{
    constexpr std::size_t most_bytes = std::size_t{1} << 28; /* that it is worth to have once more */
    return replayed.head().graph_devices_[replayed.where]->runs == own_runs &&
           replayed.subgraph.inside_bytes <= most_bytes && !replayed.replays[replayed.where].empty() &&
           !replayed.double_buffering.is_on() && replayed.spared_seconds > 0;
}

/* By what is taken for granted; to be called when others read results on the host than before. */
void Replayer::note_spared(ReplayedSubgraph &replayed) const
{
    replayed.spared_seconds = 0;
    for (std::size_t i = 0; i < replayed.subgraph.outputs.size(); i++)
        if (const SubgraphOutput &output = replayed.subgraph.outputs[i]; output.may_be_there && replayed.set.on_host[i])
            replayed.spared_seconds +=
                Seconds(moving_.block).count() +
                static_cast<double>(replayed.subgraph.buffers[output.buffer].bytes) / moving_.bytes_per_second;
}

/*
 * Where copies take little of a set's time, nothing is to be found that is worth the tries; where the next sets have
 * always come before one had ended, it is seldom worth to look.
 */
bool Replayer::is_worth_trying(const ReplayedSubgraph &replayed) const
{
    constexpr double least_share = 0.02;
    constexpr unsigned many = 16, seldom = 8;
    return !replayed.lone_comparison.is_over() && (replayed.overtaken < many || flown_ % seldom == 0) &&
           replayed.spared_seconds >= least_share * replayed.gpu_seconds;
}

bool Replayer::wants_lone_replay(const ReplayedSubgraph &replayed) const
{
    return (replayed.lone_comparison.is_over() || is_worth_trying(replayed)) && replayed.lone_comparison.other();
}

std::unique_ptr<Replay> Replayer::make_replay(ReplayedSubgraph &replayed, Replay::Results results)
{
    const auto &replays = replayed.replays_at_hand();
    return std::make_unique<Replay>(replayed.subgraph_at_hand(),
                                    *replayed.head().graph_devices_[replayed.where]->device, replayed.where, results,
                                    replays.empty() ? nullptr : replays.back().get());
}

/*
 * One that has been given inputs ahead, or the one that was used last, or the one that has waited longest, if it has
 * nothing to do. It comes last.
 */
Replay *Replayer::find_idle_replay(ReplayedSubgraph &replayed)
{
    auto &replays = replayed.replays_at_hand();
    Replay *lone = replayed.is_batch ? nullptr : replayed.lone_replays[replayed.where].get();
    if (replays.empty())
        return nullptr;
    if (lone && lone->has_ended() &&
        (lone->has_begun() || (replayed.wants_lone_replay && !replays.back()->has_begun())))
        return lone;
    if (!replays.back()->is_idle()) {
        if (!replays.front()->is_idle())
            return nullptr;
        replays.splice(replays.end(), replays, replays.begin());
    }
    return replays.back().get();
}

/*
 * Without an idle one, another, or the one that has waited longest. An idle one has its last results back, so that its
 * program need not be changed: it is good to have more than sets are under way, since others read what came before.
 */
Replay &Replayer::choose_replay(ReplayedSubgraph &replayed)
{
    constexpr std::size_t most = 32, most_bytes = std::size_t{1} << 30;
    auto &replays = replayed.replays_at_hand();

    if (auto &lone = replayed.lone_replays[replayed.where];
        replayed.wants_lone_replay && !lone && !replays.back()->has_begun())
        return *(lone = make_replay(replayed, Replay::Results::there_alone));
    if (Replay *idle = find_idle_replay(replayed))
        return *idle;
    if (replays.size() >= (replayed.is_batch ? most / 2 : most) ||
        replays.size() * Replay::bytes(replayed.subgraph_at_hand()) >= most_bytes)
        replays.splice(replays.end(), replays, replays.begin());
    else
        replays.push_back(make_replay(replayed, Replay::Results::copied));
    return *replays.back();
}

/*
 * Whether the next set's replay can be given an input, though others are missing, and has no other set to do meanwhile.
 */
bool Replayer::has_ahead(ReplayedSubgraph &replayed)
{
    const auto &replays = replayed.replays[replayed.where];
    if (!replayed.goes_ahead || !replayed.absent || replays.empty() || !replays.back()->has_ended())
        return false;
    look_for_last(replayed);
    replayed.wants_lone_replay = is_lone(replayed, 0) && wants_lone_replay(replayed);
    const Replay *lone = replayed.lone_replays[replayed.where].get();
    if (lone ? !lone->has_ended() : replayed.wants_lone_replay)
        return false;
    const Replay *replay = find_idle_replay(replayed);
    const std::optional<std::size_t> input = replay ? replay->next_ahead() : std::nullopt;
    if (!input)
        return false;
    const Channel &channel = *replayed.subgraph.inputs[*input].channel;
    return channel.has_token() && channel.tokens.front().item.block;
}

/* Copies from the host need not wait for the rest of the set, for which somebody may take long. */
void Replayer::go_ahead(Lock &lock, ReplayedSubgraph &replayed)
{
    replayed.launching = true;
    launching_++;
    try {
        while (has_ahead(replayed)) {
            Replay &replay = *find_idle_replay(replayed);
            const DatablockPtr block =
                replayed.subgraph.inputs[*replay.next_ahead()].channel->tokens.front().item.block;
            Unlocked unlocked(lock, runner_.mutex());
            replay.go_ahead(block);
        }
    } catch (const device::Fault &error) {
        fail(replayed, *replayed.head().graph_devices_.front(), error);
    } catch (const std::exception &) {
        /* Who gives the whole set says what is wrong if that is not over. */
    }
    finish_launching(replayed);
    look_again(replayed);
}

void Replayer::launch(Lock &lock, ReplayedSubgraph &replayed)
{
    if (!take(replayed))
        return;
    replayed.where = choose_device(replayed);
    const std::size_t sets = replayed.sets_at_hand();
    replayed.expected = replayed.gpu_seconds * static_cast<double>(sets);
    replayed.counts_as = runs_of(replayed.subgraph.tasks.size() * sets, replayed.expected, components_compete());
    GraphDevice &graph_device = *replayed.head().graph_devices_[replayed.where];
    graph_device.occupy(replayed.counts_as, replayed.expected);
    /* For the only one nobody need be woken. */
    const bool only = !flying_ && launching_ == 1;
    if (auto found = launch_threads_.find(&graph_device);
        found == launch_threads_.end() || only || !found->second.take(replayed))
        give(lock, replayed);
}

/* For the set at hand. */
void Replayer::decide_double_buffering(ReplayedSubgraph &replayed)
{
    if (!replayed.may_double_buffer)
        return;
    const bool is_copied = std::ranges::any_of(replayed.set.on_host, std::identity());
    replayed.double_buffering.comes(
        !is_copied || replayed.head().graph_devices_[replayed.where]->runs == replayed.counts_as, replayed.gpu_seconds);
}

/* The one that has the fewest sets. */
SetQueue &Replayer::choose_queue(const ReplayedSubgraph &replayed, const GraphDevice &graph_device)
{
    auto &queues = queues_[&graph_device].for_sets;
    const std::size_t most = replayed.double_buffering.is_on() ? DoubleBuffering::queues : most_queues;
    const auto end = queues.begin() + static_cast<std::ptrdiff_t>(std::min(most, queues.size()));
    const auto best = std::ranges::min_element(queues.begin(), end, {}, &SetQueue::sets);
    if (best != end && (!best->sets || queues.size() >= most))
        return *best;
    return queues.emplace_back(SetQueue{graph_device.device->make_queue()});
}

/*
 * To mark the end of a set takes a driver nearly as long as to give it. Of short ones, each fourth of a queue is
 * marked, unless all before it are known to have ended; who asks for the end of another sooner is told that of all that
 * the queue has by then.
 */
bool Replayer::may_share_marker(const ReplayedSubgraph &replayed, SetQueue &queue)
{
    constexpr unsigned sets_for_a_marker = 4;
    if (!queue.sets)
        queue.unmarked = 0;
    const bool shares = replayed.expected <= seconds_of_a_run && queue.unmarked + 1 < sets_for_a_marker;
    queue.unmarked = shares ? queue.unmarked + 1 : 0;
    return shares;
}

device::Queue *Replayer::queue_for_results(const ReplayedSubgraph &replayed, const GraphDevice &graph_device)
{
    if (!replayed.double_buffering.is_on())
        return nullptr;
    auto &queue = queues_[&graph_device].for_results;
    if (!queue)
        queue = graph_device.device->make_queue();
    return queue.get();
}

/*
 * The replay is null if that is not possible: its tasks try by themselves, and say what is wrong if that is not over.
 */
Replayer::Launched Replayer::launch_replay(Lock &lock, ReplayedSubgraph &replayed, const Flight &flight)
{
    decide_double_buffering(replayed);
    const bool lone = is_lone(replayed, replayed.counts_as), is_tried = lone && is_worth_trying(replayed);
    const bool measured = mode_ == Lower::automatic && replayed.given++ % sets_to_compare == 0;
    Launched launched;
    replayed.wants_lone_replay = lone && wants_lone_replay(replayed);
    try {
        SetQueue &queue = choose_queue(replayed, *flight.graph_device);
        device::Queue *for_results = queue_for_results(replayed, *flight.graph_device);
        ReplaySet &set = replayed.set_at_hand();
        set.may_share_marker = may_share_marker(replayed, queue);
        Unlocked unlocked(lock, runner_.mutex());
        NvtxRange range(replayed.head().name_);
        Replay &replay = choose_replay(replayed);
        launched.readers_changed = replay.note_readers(set.on_host);
        replay.launch(set, queue, for_results, is_tried);
        launched.replay = &replay;
        if (measured && !replay.was_made())
            launched.took = Clock::now() - flight.began;
    } catch (const device::Fault &error) {
        fail(replayed, *flight.graph_device, error);
    } catch (const std::exception &) {
    }
    return launched;
}

/* The set that was taken, at the device that was chosen for it. */
void Replayer::give(Lock &lock, ReplayedSubgraph &replayed)
{
    Flight flight;
    flight.graph_device = replayed.head().graph_devices_[replayed.where];
    flight.began = Clock::now();
    flight.seconds = replayed.expected;
    flight.counts_as = replayed.counts_as;
    flight.sets = replayed.sets_at_hand();
    const Launched launched = launch_replay(lock, replayed, flight);
    if (!launched.replay) {
        flight.graph_device->vacate(flight.counts_as, flight.seconds);
        put_back(replayed);
        if (replayed.is_batch)
            replayed.may_batch = false;
        else
            give_up(replayed);
    }
    if (launched.readers_changed) {
        spread_readers(replayed);
        replayed.lone_comparison = {};
        note_spared(replayed);
    }
    if (launched.replay)
        follow_up(replayed, launched, std::move(flight));
    finish_launching(replayed);
    drop_lone_replays(replayed);
    look_again(replayed);
}

/* Its outputs can be taken, though they may not have been written. Who takes them may find that it has ended. */
void Replayer::follow_up(ReplayedSubgraph &replayed, const Launched &launched, Flight &&flight)
{
    Replay &replay = *launched.replay;
    const GraphDevice &graph_device = *flight.graph_device;
    const Clock::time_point began = flight.began;
    flight.is_lone = &replay == replayed.lone_replays[replayed.where].get();
    flight.watch = replay.take_watch();
    fly(replayed, replay, std::move(flight));
    try {
        pass_on(replayed, replay);
    } catch (const std::exception &error) {
        fail(replayed, graph_device, error);
    }
    if (launched.took)
        compare(replayed, *launched.took);
    land_seen(replayed, began);
}

void Replayer::finish_launching(ReplayedSubgraph &replayed)
{
    replayed.launching = replayed.is_batch = false;
    if (!--launching_)
        landed_.notify_all();
}

/* For what could not be done while somebody had a set of it. */
void Replayer::look_again(ReplayedSubgraph &replayed)
{
    if (replayed.apart_for)
        separate(replayed, std::exchange(replayed.apart_for, 0));
    else
        look_at(replayed);
}

void Replayer::fly(ReplayedSubgraph &replayed, const Replay &replay, Flight &&flight)
{
    const std::size_t runs = replayed.subgraph.tasks.size() * flight.sets;
    const Subgraph &its = replayed.subgraph_at_hand();
    ReplaySet &set = replayed.set_at_hand();
    const Replay::Moved &moved = replay.moved();
    DeviceCounters &counts = flight.graph_device->counts;

    if (!spare_.empty()) {
        flight.held = std::move(spare_.back());
        spare_.pop_back();
    }
    for (DatablockPtr &block : set.inputs)
        flight.held.push_back(std::move(block));
    for (std::size_t i = 0; i < its.fixed.size(); i++)
        if (its.fixed[i].buffer)
            flight.held.push_back(set.fixed[i]);
    flight.share = flight.graph_device->shared_until(flight.began, 1);
    flight.replay = &replay;
    flight.moved = moved;
    flight.queue = &replay.queue();
    flight.queue->sets++;
    flight.marker = replay.marker();
    flight.number = ++flown_;
    replayed.flights.push_back(std::move(flight));
    flying_++;
    replayed.moved = true;
    replayed.stays = !moved.uploaded_blocks && !moved.migrated_blocks;
    counts.runs += runs;
    counts.lowered += runs;
    counts.blocks_uploaded += moved.uploaded_blocks;
    counts.bytes_uploaded += moved.uploaded_bytes;
    counts.blocks_migrated += moved.migrated_blocks;
    counts.bytes_migrated += moved.migrated_bytes;
    wake_watcher();
}

/* Of what is known to have ended; to ask takes a driver's time. */
void Replayer::land_seen(ReplayedSubgraph &replayed, Clock::time_point now)
{
    while (!replayed.flights.empty() && replayed.flights.front().marker->seen())
        ended(replayed, now);
}

void Replayer::ended(ReplayedSubgraph &replayed, Clock::time_point now)
{
    Flight flight = replayed.flights.pop_front();
    GraphDevice &graph_device = *flight.graph_device;

    flying_--;
    flight.queue->sets--;
    replayed.sets += flight.sets;
    graph_device.vacate(flight.counts_as, flight.seconds);
    const double share = graph_device.shared_until(now, -1) - flight.share;
    const auto sets = static_cast<double>(flight.sets);
    replayed.gpu_seconds +=
        (share - sets * replayed.gpu_seconds) / std::min(static_cast<double>(replayed.sets), share_inertia);
    if (runner_.keeps_timeline())
        runner_.replayed(*graph_device.device, *flight.replay, replayed.subgraph, flight.moved, flight.began, now);
    if (flight.watch)
        tried(replayed, flight);
    flight.held.clear();
    spare_.push_back(std::move(flight.held));
}

/*
 * If others came meanwhile, nobody knows what it would have taken. Where that is how sets come, the other way, which
 * keeps those others waiting, is not tried at all.
 */
void Replayer::tried(ReplayedSubgraph &replayed, const Flight &flight) const
{
    const double seconds = flight.number == flown_ ? flight.watch->seconds() : 0;
    const bool is_known = seconds > 0;
    replayed.overtaken = is_known ? 0 : replayed.overtaken + 1;
    if (is_known || flight.is_lone)
        replayed.lone_comparison.add(flight.is_lone, is_known ? seconds : HUGE_VAL);
    drop_lone_replays(replayed);
}

/* When it is known that they are of no use, and nobody uses them. */
void Replayer::drop_lone_replays(ReplayedSubgraph &replayed)
{
    if (!replayed.launching && replayed.flights.empty() && replayed.lone_comparison.is_over() &&
        !replayed.lone_comparison.other())
        for (auto &replay : replayed.lone_replays)
            replay.reset();
}

} // namespace ptsched::ptask
