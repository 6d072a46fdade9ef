// SPDX-License-Identifier: MIT
// When the tasks of a part run together, and when by themselves.
#include "libptsched/ptask/replay/replayer.hpp"

#include "libptsched/ptask/run/scheduler.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

namespace ptsched::ptask {

namespace {

/* Runs of each task before a part is worth a program, and after something that a program could not do. */
constexpr std::uint64_t steady_runs = 4;
/*
 * Of so many sets that were compared with what their tasks take by themselves, the shortest is believed: a host that
 * does something else in between only makes them longer.
 */
constexpr unsigned comparisons = 4;
constexpr double most_longer = 2;
/* How much longer tasks run by themselves each time when that was better; after so many sets it had not been. */
constexpr std::uint64_t longer = 8, longest = std::uint64_t{1} << 40, sets_worth_it = 1000;
/*
 * Looks that find a set stalled until it is believed: where nothing else goes on, where something may bring it, and
 * where somebody wants CUDA graphs in any case.
 */
constexpr unsigned looks = 2, more_looks = 20, most_looks = 100;
/* What has ended since then may not be known when a place is chosen: drivers take long to say so. */
constexpr std::chrono::microseconds most_unknown{200};
/* Runs as which a set counts. */
constexpr std::size_t most_counted = 32;

} // namespace

Lowering::Lowering(Scheduler &scheduler, const GraphOptions &options)
    : scheduler_(scheduler), mode_(options.lower), moving_(options.moving)
{
}

Lowering::~Lowering() = default;

void Lowering::start(const std::vector<std::unique_ptr<TaskImpl>> &tasks)
{
    /* What waits for turns, or is measured, goes to a GPU one by one. */
    if (mode_ == Lower::never || scheduler_.places_.attached())
        return;
    tasks_ = &tasks;
    for (Part &part : Parts::find(tasks)) {
        Lowered &lowered = *parts_.emplace_back(new Lowered{std::move(part)});
        lowered.patience = lowered.until = first_patience();
        lowered.slots.resize(lowered.head().places_.size());
        lowered.lone_slots.resize(lowered.head().places_.size());
        /* Which place is chosen may depend on all of a set. */
        lowered.goes_ahead = lowered.head().places_.size() == 1 && Slot::may_go_ahead(lowered.part);
        lowered.may_pair = lowered.part.ends_at_once && fills_devices(lowered);
        lowered.set.inputs.resize(lowered.part.inputs.size());
        lowered.set.fixed.resize(lowered.part.fixed.size());
        for (const PartOutput &output : lowered.part.outputs)
            lowered.set.on_host.push_back(output.for_host);
        note_spared(lowered);
        make_batch(lowered);
        for (TaskImpl *task : lowered.part.tasks)
            task->lowered_ = &lowered;
        if (const auto &places = lowered.head().places_; places.size() > 1)
            for (const Place *place : places)
                launchers_.try_emplace(place, scheduler_.mutex_, [this](Lock &lock, Lowered &part) {
                    scheduler_.now_.passes();
                    give(lock, part);
                    go_on(lock);
                    scheduler_.hand_over();
                });
    }
}

/* Whether each of its kernels leaves no room for another like it, on any of its devices. */
bool Lowering::fills_devices(const Lowered &part)
{
    const auto fills = [](const PartStep &step, const Place *place) {
        const auto most = place->device->most_threads();
        return !step.task || (most && 2 * step.task->geometry_.threads() > static_cast<double>(*most));
    };
    return std::ranges::all_of(part.head().places_, [&](const Place *place) {
        return std::ranges::all_of(part.part.steps, [&](const PartStep &step) { return fills(step, place); });
    });
}

/* Who gives tasks of a part different priorities wants one of them to run before others. */
bool Lowering::is_uniform(const Lowered &part) const
{
    const TaskImpl &head = part.head();
    return std::all_of(part.part.tasks.begin(), part.part.tasks.end(), [&](const TaskImpl *task) {
        return task->priority_ == head.priority_ && task->proxy_priority_ == head.proxy_priority_;
    });
}

/* Other graphs that use its devices get their share run by run. */
bool Lowering::has_company(const Lowered &part)
{
    return std::any_of(part.head().places_.begin(), part.head().places_.end(),
                       [](const Place *place) { return place->rival && !place->rival->alone(); });
}

bool Lowering::parts_compete()
{
    if (!std::exchange(priorities_are_new_, false))
        return parts_compete_;
    std::set<double> priorities;
    std::set<std::size_t> parts;
    for (const auto &task : *tasks_)
        if (!task->on_host_) {
            priorities.insert(task->priority(scheduler_.weights_));
            parts.insert(task->part_);
        }
    return parts_compete_ = priorities.size() > 1 && parts.size() > 1;
}

std::size_t Lowering::runs_of(std::size_t tasks, double seconds, bool others_first)
{
    const std::size_t most = std::min(tasks, most_counted);
    const double longest = static_cast<double>(most) * seconds_of_a_run;
    if (others_first || seconds >= longest)
        return most;
    return std::max<std::size_t>(1, static_cast<std::size_t>(seconds / seconds_of_a_run));
}

void Lowering::priorities_changed(TaskImpl &task)
{
    Lowered *part = task.lowered_;
    priorities_are_new_ = true;
    if (part && part->mode != Lowered::apart && !is_uniform(*part))
        separate(*part, part->patience);
    hurry();
    scheduler_.hand_over();
}

void Lowering::ran(TaskImpl &task, Seconds took, bool odd)
{
    Lowered &part = *task.lowered_;
    const std::uint64_t number = ++task.begun_;

    if (odd) {
        separate(part, part.patience);
    } else if (part.mode == Lowered::halting) {
        if (!--part.missing)
            join(part);
    } else {
        /* The first runs take longer. */
        if (number > 1)
            part.run_seconds.add(took.count());
        if (&task == part.part.tasks.back() && number >= part.until && is_uniform(part) && !has_company(part))
            halt(part);
    }
}

void Lowering::halt(Lowered &part)
{
    part.mode = Lowered::halting;
    part.until = part.missing = part.stalled = 0;
    for (const TaskImpl *task : part.part.tasks)
        part.until = std::max(part.until, task->begun_);
    for (const TaskImpl *task : part.part.tasks)
        part.missing += part.until - task->begun_;
    if (!part.missing)
        join(part);
}

/* Each task has run as often as the others, and nothing is between them. */
void Lowering::join(Lowered &part)
{
    part.mode = Lowered::together;
    part.stalled = part.compared = 0;
    part.least_seconds = HUGE_VAL;
    part.sets_before = part.sets;
    part.absent = 0;
    part.gpu_seconds = 0;
    for (const TaskImpl *task : part.part.tasks)
        part.gpu_seconds += task->run_time_.value();
    for (const PartInput &input : part.part.inputs)
        part.absent += !input.channel->has_token();
    for (std::size_t i = 0; i < part.part.fixed.size(); i++) {
        const PortImpl &port = *part.part.fixed[i].port;
        part.set.fixed[i] = port.options_.kind == PortKind::sticky ? port.kept_ : port.options_.initial;
        part.sticky_came = part.sticky_came || (port.from_ && !port.from_->tokens.empty());
    }
    part.set.changes++;
    wake_watcher();
    look_at(part);
}

/* Its tasks run by themselves, at least that often. */
void Lowering::separate(Lowered &part, std::uint64_t runs)
{
    if (part.launching) {
        part.parts_for = std::max(part.parts_for, runs);
        return;
    }
    part.for_slots([](Slot &slot) { slot.forget_ahead(); });
    part.mode = Lowered::apart;
    part.waits = false;
    part.before_sticky = 0;
    part.until = 0;
    for (const TaskImpl *task : part.part.tasks)
        part.until = std::max(part.until, task->begun_);
    part.until += runs;
    for (TaskImpl *task : part.part.tasks)
        scheduler_.look_at(*task);
}

std::uint64_t Lowering::first_patience() const
{
    return mode_ == Lower::always ? 1 : steady_runs;
}

void Lowering::give_up(Lowered &part)
{
    const bool was_worth_it = part.sets - part.sets_before >= sets_worth_it;
    part.patience = was_worth_it ? first_patience() : std::min(part.patience * longer, longest);
    separate(part, part.patience);
}

bool Lowering::has_room(const Lowered &part) const
{
    for (const PartOutput &output : part.part.outputs)
        for (const Channel *channel : output.channels)
            if (!channel->has_room())
                return false;
    return true;
}

/* For who has slept since nothing was going on: it may be up to him to find that nothing goes on though it should. */
void Lowering::wake_watcher()
{
    if (watched_)
        return;
    watched_ = true;
    scheduler_.watched_ = scheduler_.now_.get();
    scheduler_.wake_thread();
}

void Lowering::came(const Channel &channel)
{
    const PortImpl &port = *channel.destination;
    Lowered &part = *port.task_.lowered_;

    if (part.mode == Lowered::apart)
        return;
    part.moved = true;
    wake_watcher();
    if (part.mode == Lowered::halting)
        return;
    if (port.options_.kind == PortKind::sticky) {
        part.sticky_came = true;
        if (part.waits) {
            part.before_sticky = Batch::complete(part.part);
            look_at(part);
        }
        return;
    }
    if (channel.tokens.size() == 1)
        part.absent--;
    if (!part.waits || Batch::has_news(channel))
        look_at(part);
}

void Lowering::left(Lowered &part)
{
    if (part.mode == Lowered::apart)
        return;
    part.moved = true;
    wake_watcher();
    look_at(part);
}

/*
 * If its set is complete, or can be begun with, it is given to a GPU by who has the lock, unless something else is due
 * before it, or it waits for others.
 */
void Lowering::look_at(Lowered &part)
{
    TaskImpl &head = part.head();
    if (scheduler_.stopping_ || part.mode != Lowered::together || part.launching || head.queued_)
        return;
    const bool complete = !part.absent && has_room(part);
    part.waits = complete && waits_for_more(part);
    part.hurries = part.hurries && complete;
    if (part.waits || (!complete && !has_ahead(part)))
        return;
    /* What has ended may not be known yet. */
    const bool full = scheduler_.places_.full(false) && !(poll() && !scheduler_.places_.full(false));
    const bool in_turn = full || parts_compete() || !scheduler_.due_[1].empty();
    if (in_turn && !complete)
        return;
    head.queued_ = true;
    if (in_turn)
        scheduler_.add_due(head);
    else
        direct_.push_back(&part);
}

void Lowering::go_on(Lock &lock)
{
    device::BorrowedThread borrowed; /* once for a set, not for each call */
    while (!direct_.empty()) {
        Lowered &part = *direct_.back();
        direct_.pop_back();
        part.head().queued_ = false;
        if (!attempt(lock, part.head()))
            scheduler_.look_at(part.head());
    }
}

bool Lowering::attempt(Lock &lock, TaskImpl &task)
{
    Lowered *part = task.lowered_;
    if (!part || part->mode != Lowered::together)
        return false;
    if (has_company(*part)) {
        separate(*part, part->patience);
        return part->mode == Lowered::together;
    }
    if (part->launching || scheduler_.stopping_ || !scheduler_.failure_.empty())
        return true;
    if (!part->absent && has_room(*part)) {
        look_for_last(*part);
        launch(lock, *part);
    } else if (has_ahead(*part)) {
        go_ahead(lock, *part);
    }
    return true;
}

bool Lowering::has_signals(const Lowered &part)
{
    auto is_odd = [](const Channel &channel) {
        const Item &item = channel.tokens.front().item;
        return !item.block || item.end_of_stream || item.error;
    };
    for (const PartInput &input : part.part.inputs)
        if (is_odd(*input.channel))
            return true;
    for (const PartFixed &fixed : part.part.fixed)
        if (const Channel *from = fixed.port->from_; part.sticky_came && from && from->has_token() && is_odd(*from))
            return true;
    return false;
}

void Lowering::take_fixed(Lowered &part)
{
    part.sticky_came = false;
    for (std::size_t i = 0; i < part.part.fixed.size(); i++) {
        PortImpl &port = *part.part.fixed[i].port;
        if (!port.from_ || port.options_.kind != PortKind::sticky)
            continue;
        if (port.from_->has_token()) {
            part.set.fixed[i] = port.kept_ = port.from_->tokens.pop_front().item.block;
            part.set.changes++;
            scheduler_.took_from(*port.from_);
        }
        part.sticky_came = part.sticky_came || !port.from_->tokens.empty();
    }
}

bool Lowering::take(Lowered &part)
{
    if (has_signals(part)) {
        separate(part, part.patience);
        return false;
    }
    /* Before anybody who waits for the room can bring more. */
    part.launching = true;
    launching_++;
    part.is_batch = part.batch && Batch::is_complete(part.part) && may_batch(part);
    if (part.before_sticky)
        part.before_sticky--;
    else if (part.sticky_came)
        take_fixed(part);
    PartSet &set = part.set_at_hand();
    const Part &taken = part.part_at_hand();
    if (part.is_batch && set.changes != part.set.changes) {
        set.fixed = part.set.fixed;
        set.changes = part.set.changes;
    }
    for (std::size_t i = 0; i < taken.inputs.size(); i++) {
        Channel &channel = *taken.inputs[i].channel;
        set.inputs[i] = channel.tokens.pop_front().item.block;
        part.absent += channel.tokens.empty();
        scheduler_.took_from(channel);
    }
    for (const PartOutput &output : taken.outputs)
        for (Channel *channel : output.channels)
            channel->promised++;
    return true;
}

/* The set could not be given: its blocks are the next again. */
void Lowering::put_back(Lowered &part)
{
    const Part &taken = part.part_at_hand();
    for (std::size_t i = taken.inputs.size(); i--;) {
        Channel &channel = *taken.inputs[i].channel;
        channel.tokens.push_front({{std::move(part.set_at_hand().inputs[i])}});
        part.absent -= channel.tokens.size() == 1;
    }
    for (const PartOutput &output : taken.outputs)
        for (Channel *channel : output.channels)
            channel->promised--;
}

void Lowering::pass_on(Lowered &part, Slot &slot)
{
    const std::vector<PartOutput> &outputs = part.part_at_hand().outputs;
    for (std::size_t i = 0; i < outputs.size(); i++)
        for (Channel *channel : outputs[i].channels) {
            channel->promised--;
            scheduler_.put_into(*channel, {{slot.outputs()[i]}});
        }
    slot.passed_on();
}

std::size_t Lowering::choose_place(Lowered &part)
{
    TaskImpl &head = part.head();
    if (head.places_.size() == 1)
        return 0;
    if (Clock::now() - looked_ > most_unknown)
        poll();
    probe_.begin(head, head.ports_.size());
    for (std::size_t i = 0; i < part.part.inputs.size(); i++)
        if (const PortImpl &port = *part.part.inputs[i].channel->destination; &port.task_ == &head)
            probe_.held[port.index_] = part.set.inputs[i];
    const std::size_t which = scheduler_.places_.choose(probe_);
    probe_.end();
    return which;
}

void Lowering::fail(const Lowered &part, const Place &place, const std::exception &error)
{
    scheduler_.fail({part.part.tasks.begin(), part.part.tasks.end()}, place, error);
}

void Lowering::for_tasks_at(const Place &place, const std::function<void(const TaskImpl *)> &function) const
{
    for (const auto &part : parts_)
        for (std::size_t i = 0; i < part->flights.size(); i++)
            if (part->flights[i].place == &place)
                std::ranges::for_each(part->part.tasks, function);
}

/* It must not take the host much longer than its tasks by themselves: what comes after them waits less. */
void Lowering::compare(Lowered &part, Seconds took)
{
    const double apart = part.run_seconds.value() * static_cast<double>(part.part.tasks.size() * part.sets_at_hand());
    part.least_seconds = std::min(part.least_seconds, took.count());
    if (++part.compared < comparisons)
        return;
    const bool takes_longer = apart > 0 && part.least_seconds > most_longer * apart;
    part.compared = 0;
    part.least_seconds = HUGE_VAL;
    if (takes_longer)
        give_up(part);
}

bool Lowering::is_awaited() const
{
    return is_busy() && (scheduler_.any_due() || scheduler_.stopping_);
}

bool Lowering::poll()
{
    const std::size_t before = flying_;
    looked_ = Clock::now();
    for (std::size_t i = 0; flying_ && i < parts_.size(); i++) {
        Lowered &part = *parts_[i];
        const Place *place = nullptr;
        try {
            while (!part.flights.empty() && scheduler_.failure_.empty()) {
                place = part.flights.front().place;
                if (!part.flights.front().marker->reached())
                    break;
                ended(part, looked_);
            }
        } catch (const std::exception &error) {
            fail(part, *place, error);
        }
    }
    return flying_ < before;
}

/* Something of a set is there that a task could begin with, but not all, and nothing else is going on. */
bool Lowering::is_stalled(const Lowered &part) const
{
    if (part.mode == Lowered::apart || part.head().queued_ || part.launching || !part.flights.empty())
        return false;
    if (part.mode == Lowered::together && part.absent == part.part.inputs.size())
        return false;
    return std::any_of(part.part.tasks.begin(), part.part.tasks.end(),
                       [](const TaskImpl *task) { return Scheduler::has_inputs_and_room(*task); });
}

void Lowering::watch()
{
    poll();
    hurry();
    watched_ = is_busy();
    const unsigned enough = mode_ == Lower::always               ? most_looks
                            : is_busy() || !scheduler_.is_idle() ? more_looks
                                                                 : looks;
    for (const auto &part : parts_) {
        const bool moved = std::exchange(part->moved, false);
        part->stalled = !moved && is_stalled(*part) ? part->stalled + 1 : 0;
        watched_ = watched_ || moved || part->stalled;
        if (part->stalled >= enough)
            give_up(*part);
    }
}

void Lowering::settle(Lock &lock)
{
    landed_.wait(lock, [this] { return !launching_; });
    Unlocked unlocked(lock);
    for (auto &[place, queues] : queues_) {
        for (SetQueue &one : queues.for_sets)
            device::settle(*one.queue);
        if (queues.for_results)
            device::settle(*queues.for_results);
    }
}

void Lowering::close(Lock &lock)
{
    landed_.wait(lock, [this] { return !launching_; });
    for (const auto &part : parts_) {
        for (auto &slots : part->slots)
            slots.clear();
        part->lone_slots.clear();
        part->batch.reset();
        part->flights.clear();
        part->set.inputs.clear();
    }
    flying_ = 0;
}

} // namespace ptsched::ptask
