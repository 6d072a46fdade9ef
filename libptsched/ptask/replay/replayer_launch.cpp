// SPDX-License-Identifier: MIT
// How a set is given to a device, and what is learnt when it has ended.
#include "libptsched/ptask/replay/replayer.hpp"

#include "libptsched/ptask/run/scheduler.hpp"

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
 * Queues of a place for sets. The fewer, the nearer they end in the order in which they came, so that who waits for
 * the oldest can go on while a device still has others; with too few, a device that fetches blocks for one computes
 * nothing. Drivers have about as many channels.
 */
constexpr std::size_t most_queues = 8;

} // namespace

/* The last sets may have ended, so that this is a lone one. To ask for several takes too long where sets are short. */
void Lowering::look_for_last(const Lowered &part)
{
    constexpr std::size_t few = 4;
    const std::size_t most = part.may_pair ? few : part.spared_seconds > 0;
    if (flying_ && flying_ <= most)
        poll();
}

/* The place has nothing else to do than so much of its own, and the set's program may do something else for that. */
bool Lowering::is_lone(const Lowered &part, std::size_t own_runs)
{
    constexpr std::size_t most_bytes = std::size_t{1} << 28; /* that it is worth to have once more */
    return part.head().places_[part.where]->runs == own_runs && part.part.inside_bytes <= most_bytes &&
           !part.slots[part.where].empty() && !part.in_pairs.is_on() && part.spared_seconds > 0;
}

/* By what is taken for granted; to be called when others read results on the host than before. */
void Lowering::note_spared(Lowered &part) const
{
    part.spared_seconds = 0;
    for (std::size_t i = 0; i < part.part.outputs.size(); i++)
        if (const PartOutput &output = part.part.outputs[i]; output.may_be_there && part.set.on_host[i])
            part.spared_seconds +=
                Seconds(moving_.block).count() +
                static_cast<double>(part.part.buffers[output.buffer].bytes) / moving_.bytes_per_second;
}

/*
 * Where copies take little of a set's time, nothing is to be found that is worth the tries; where the next sets have
 * always come before one had ended, it is seldom worth to look.
 */
bool Lowering::is_worth_trying(const Lowered &part) const
{
    constexpr double least_share = 0.02;
    constexpr unsigned many = 16, seldom = 8;
    return !part.lone_trial.is_over() && (part.overtaken < many || flown_ % seldom == 0) &&
           part.spared_seconds >= least_share * part.gpu_seconds;
}

bool Lowering::wants_lone_slot(const Lowered &part) const
{
    return (part.lone_trial.is_over() || is_worth_trying(part)) && part.lone_trial.other();
}

std::unique_ptr<Slot> Lowering::make_slot(Lowered &part, Slot::Results results)
{
    const auto &slots = part.slots_at_hand();
    return std::make_unique<Slot>(part.part_at_hand(), *part.head().places_[part.where]->device, part.where, results,
                                  slots.empty() ? nullptr : slots.back().get());
}

/*
 * One that has been given inputs ahead, or the one that was used last, or the one that has waited longest, if it has
 * nothing to do. It comes last.
 */
Slot *Lowering::find_idle_slot(Lowered &part)
{
    auto &slots = part.slots_at_hand();
    Slot *lone = part.is_batch ? nullptr : part.lone_slots[part.where].get();
    if (slots.empty())
        return nullptr;
    if (lone && lone->has_ended() && (lone->has_begun() || (part.wants_lone_slot && !slots.back()->has_begun())))
        return lone;
    if (!slots.back()->is_idle()) {
        if (!slots.front()->is_idle())
            return nullptr;
        slots.splice(slots.end(), slots, slots.begin());
    }
    return slots.back().get();
}

/*
 * Without an idle one, another, or the one that has waited longest. An idle one has its last results back, so that its
 * program need not be changed: it is good to have more than sets are under way, since others read what came before.
 */
Slot &Lowering::choose_slot(Lowered &part)
{
    constexpr std::size_t most = 32, most_bytes = std::size_t{1} << 30;
    auto &slots = part.slots_at_hand();

    if (auto &lone = part.lone_slots[part.where]; part.wants_lone_slot && !lone && !slots.back()->has_begun())
        return *(lone = make_slot(part, Slot::Results::there_alone));
    if (Slot *idle = find_idle_slot(part))
        return *idle;
    if (slots.size() >= (part.is_batch ? most / 2 : most) ||
        slots.size() * Slot::bytes(part.part_at_hand()) >= most_bytes)
        slots.splice(slots.end(), slots, slots.begin());
    else
        slots.push_back(make_slot(part, Slot::Results::copied));
    return *slots.back();
}

/* Whether the next set's slot can be given an input, though others are missing, and has no other set to do meanwhile.
 */
bool Lowering::has_ahead(Lowered &part)
{
    const auto &slots = part.slots[part.where];
    if (!part.goes_ahead || !part.absent || slots.empty() || !slots.back()->has_ended())
        return false;
    look_for_last(part);
    part.wants_lone_slot = is_lone(part, 0) && wants_lone_slot(part);
    const Slot *lone = part.lone_slots[part.where].get();
    if (lone ? !lone->has_ended() : part.wants_lone_slot)
        return false;
    const Slot *slot = find_idle_slot(part);
    const std::optional<std::size_t> input = slot ? slot->next_ahead() : std::nullopt;
    if (!input)
        return false;
    const Channel &channel = *part.part.inputs[*input].channel;
    return channel.has_token() && channel.tokens.front().item.block;
}

/* Copies from the host need not wait for the rest of the set, for which somebody may take long. */
void Lowering::go_ahead(Lock &lock, Lowered &part)
{
    part.launching = true;
    launching_++;
    try {
        while (has_ahead(part)) {
            Slot &slot = *find_idle_slot(part);
            const DatablockPtr block = part.part.inputs[*slot.next_ahead()].channel->tokens.front().item.block;
            Unlocked unlocked(lock);
            slot.go_ahead(block);
        }
    } catch (const device::Fault &error) {
        fail(part, *part.head().places_.front(), error);
    } catch (const std::exception &) {
        /* Who gives the whole set says what is wrong if that is not over. */
    }
    finish_launching(part);
    look_again(part);
}

void Lowering::launch(Lock &lock, Lowered &part)
{
    if (!take(part))
        return;
    part.where = choose_place(part);
    const std::size_t sets = part.sets_at_hand();
    part.expected = part.gpu_seconds * static_cast<double>(sets);
    part.counts_as = runs_of(part.part.tasks.size() * sets, part.expected, parts_compete());
    Place &place = *part.head().places_[part.where];
    place.occupy(part.counts_as, part.expected);
    /* For the only one nobody need be woken. */
    const bool only = !flying_ && launching_ == 1;
    if (auto found = launchers_.find(&place); found == launchers_.end() || only || !found->second.take(part))
        give(lock, part);
}

/* For the set at hand. */
void Lowering::pair_up(Lowered &part)
{
    if (!part.may_pair)
        return;
    const bool is_copied = std::ranges::any_of(part.set.on_host, std::identity());
    part.in_pairs.comes(!is_copied || part.head().places_[part.where]->runs == part.counts_as, part.gpu_seconds);
}

/* The one that has the fewest sets. */
SetQueue &Lowering::choose_queue(const Lowered &part, const Place &place)
{
    auto &queues = queues_[&place].for_sets;
    const std::size_t most = part.in_pairs.is_on() ? InPairs::queues : most_queues;
    const auto end = queues.begin() + static_cast<std::ptrdiff_t>(std::min(most, queues.size()));
    const auto best = std::ranges::min_element(queues.begin(), end, {}, &SetQueue::sets);
    if (best != end && (!best->sets || queues.size() >= most))
        return *best;
    return queues.emplace_back(SetQueue{place.device->make_queue()});
}

/*
 * To mark the end of a set takes a driver nearly as long as to give it. Of short ones, each fourth of a queue is
 * marked, unless all before it are known to have ended; who asks for the end of another sooner is told that of all that
 * the queue has by then.
 */
bool Lowering::may_share_marker(const Lowered &part, SetQueue &queue)
{
    constexpr unsigned sets_for_a_marker = 4;
    if (!queue.sets)
        queue.unmarked = 0;
    const bool shares = part.expected <= seconds_of_a_run && queue.unmarked + 1 < sets_for_a_marker;
    queue.unmarked = shares ? queue.unmarked + 1 : 0;
    return shares;
}

device::Queue *Lowering::queue_for_results(const Lowered &part, const Place &place)
{
    if (!part.in_pairs.is_on())
        return nullptr;
    auto &queue = queues_[&place].for_results;
    if (!queue)
        queue = place.device->make_queue();
    return queue.get();
}

/* The slot is null if that is not possible: its tasks try by themselves, and say what is wrong if that is not over. */
Lowering::Launched Lowering::launch_in_slot(Lock &lock, Lowered &part, const Flight &flight)
{
    pair_up(part);
    const bool lone = is_lone(part, part.counts_as), is_tried = lone && is_worth_trying(part);
    const bool measured = mode_ == Lower::automatic && part.given++ % sets_to_compare == 0;
    Launched launched;
    part.wants_lone_slot = lone && wants_lone_slot(part);
    try {
        SetQueue &queue = choose_queue(part, *flight.place);
        device::Queue *for_results = queue_for_results(part, *flight.place);
        PartSet &set = part.set_at_hand();
        set.may_share_marker = may_share_marker(part, queue);
        Unlocked unlocked(lock);
        Slot &slot = choose_slot(part);
        launched.readers_changed = slot.note_readers(set.on_host);
        slot.launch(set, queue, for_results, is_tried);
        launched.slot = &slot;
        if (measured && !slot.was_made())
            launched.took = Clock::now() - flight.began;
    } catch (const device::Fault &error) {
        fail(part, *flight.place, error);
    } catch (const std::exception &) {
    }
    return launched;
}

/* The set that was taken, at the place that was chosen for it. */
void Lowering::give(Lock &lock, Lowered &part)
{
    Flight flight;
    flight.place = part.head().places_[part.where];
    flight.began = Clock::now();
    flight.seconds = part.expected;
    flight.counts_as = part.counts_as;
    flight.sets = part.sets_at_hand();
    const Launched launched = launch_in_slot(lock, part, flight);
    if (!launched.slot) {
        flight.place->vacate(flight.counts_as, flight.seconds);
        put_back(part);
        if (part.is_batch)
            part.may_batch = false;
        else
            give_up(part);
    }
    if (launched.readers_changed) {
        spread_readers(part);
        part.lone_trial = {};
        note_spared(part);
    }
    if (launched.slot)
        follow_up(part, launched, std::move(flight));
    finish_launching(part);
    drop_lone_slots(part);
    look_again(part);
}

/* Its outputs can be taken, though they may not have been written. Who takes them may find that it has ended. */
void Lowering::follow_up(Lowered &part, const Launched &launched, Flight &&flight)
{
    Slot &slot = *launched.slot;
    const Place &place = *flight.place;
    const Clock::time_point began = flight.began;
    flight.is_lone = &slot == part.lone_slots[part.where].get();
    flight.watch = slot.take_watch();
    fly(part, slot, std::move(flight));
    try {
        pass_on(part, slot);
    } catch (const std::exception &error) {
        fail(part, place, error);
    }
    if (launched.took)
        compare(part, *launched.took);
    land_seen(part, began);
}

void Lowering::finish_launching(Lowered &part)
{
    part.launching = part.is_batch = false;
    if (!--launching_)
        landed_.notify_all();
}

/* For what could not be done while somebody had a set of it. */
void Lowering::look_again(Lowered &part)
{
    if (part.parts_for)
        separate(part, std::exchange(part.parts_for, 0));
    else
        look_at(part);
}

void Lowering::fly(Lowered &part, const Slot &slot, Flight &&flight)
{
    const std::size_t runs = part.part.tasks.size() * flight.sets;
    const Part &its = part.part_at_hand();
    PartSet &set = part.set_at_hand();
    const Slot::Moved &moved = slot.moved();
    DeviceCounters &counts = flight.place->counts;

    if (!spare_.empty()) {
        flight.held = std::move(spare_.back());
        spare_.pop_back();
    }
    for (DatablockPtr &block : set.inputs)
        flight.held.push_back(std::move(block));
    for (std::size_t i = 0; i < its.fixed.size(); i++)
        if (its.fixed[i].buffer)
            flight.held.push_back(set.fixed[i]);
    flight.share = flight.place->shared_until(flight.began, 1);
    flight.slot = &slot;
    flight.moved = moved;
    flight.queue = &slot.queue();
    flight.queue->sets++;
    flight.marker = slot.marker();
    flight.number = ++flown_;
    part.flights.push_back(std::move(flight));
    flying_++;
    part.moved = true;
    part.stays = !moved.uploaded_blocks && !moved.migrated_blocks;
    counts.runs += runs;
    counts.lowered += runs;
    counts.blocks_uploaded += moved.uploaded_blocks;
    counts.bytes_uploaded += moved.uploaded_bytes;
    counts.blocks_migrated += moved.migrated_blocks;
    counts.bytes_migrated += moved.migrated_bytes;
    wake_watcher();
}

/* Of what is known to have ended; to ask takes a driver's time. */
void Lowering::land_seen(Lowered &part, Clock::time_point now)
{
    while (!part.flights.empty() && part.flights.front().marker->seen())
        ended(part, now);
}

void Lowering::ended(Lowered &part, Clock::time_point now)
{
    Flight flight = part.flights.pop_front();
    Place &place = *flight.place;

    flying_--;
    flight.queue->sets--;
    part.sets += flight.sets;
    place.vacate(flight.counts_as, flight.seconds);
    const double share = place.shared_until(now, -1) - flight.share;
    const auto sets = static_cast<double>(flight.sets);
    part.gpu_seconds += (share - sets * part.gpu_seconds) / std::min(static_cast<double>(part.sets), share_inertia);
    if (scheduler_.timeline_)
        scheduler_.timeline_->lowered(*place.device, *flight.slot, part.part, flight.moved, flight.began, now);
    if (flight.watch)
        tried(part, flight);
    flight.held.clear();
    spare_.push_back(std::move(flight.held));
}

/*
 * If others came meanwhile, nobody knows what it would have taken. Where that is how sets come, the other way, which
 * keeps those others waiting, is not tried at all.
 */
void Lowering::tried(Lowered &part, const Flight &flight) const
{
    const double seconds = flight.number == flown_ ? flight.watch->seconds() : 0;
    const bool is_known = seconds > 0;
    part.overtaken = is_known ? 0 : part.overtaken + 1;
    if (is_known || flight.is_lone)
        part.lone_trial.add(flight.is_lone, is_known ? seconds : HUGE_VAL);
    drop_lone_slots(part);
}

/* When it is known that they are of no use, and nobody uses them. */
void Lowering::drop_lone_slots(Lowered &part)
{
    if (!part.launching && part.flights.empty() && part.lone_trial.is_over() && !part.lone_trial.other())
        for (auto &slot : part.lone_slots)
            slot.reset();
}

} // namespace ptsched::ptask
