// SPDX-License-Identifier: MIT
/* When the tasks of a subgraph run together, and when by themselves. */
#include "libptsched/ptask/replay/replayer.hpp"

#include "libptsched/ptask/graph/readiness.hpp"
#include "libptsched/ptask/replay/find_subgraphs.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

namespace ptsched::ptask {

namespace {

/* Runs of each task before a subgraph is worth a program, and after something that a program could not do. */
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
/* What has ended since then may not be known when a device is chosen: drivers take long to say so. */
constexpr std::chrono::microseconds most_unknown{200};
/* Runs as which a set counts. */
constexpr std::size_t most_counted = 32;

} // namespace

Replayer::Replayer(Runner &runner, const GraphOptions &options)
    : runner_(runner), mode_(options.lower), moving_(options.moving), weights_(options.weights)
{
}

Replayer::~Replayer() = default;

void Replayer::start(const std::vector<std::unique_ptr<TaskImpl>> &tasks)
{
    /* What waits for turns, or is measured, goes to a GPU one by one. */
    if (mode_ == Lower::never || runner_.devices().attached())
        return;
    tasks_ = &tasks;
    for (Subgraph &subgraph : Subgraphs::find(tasks)) {
        ReplayedSubgraph &replayed = *replayed_.emplace_back(new ReplayedSubgraph{std::move(subgraph)});
        replayed.patience = replayed.until = first_patience();
        replayed.replays.resize(replayed.head().graph_devices_.size());
        replayed.lone_replays.resize(replayed.head().graph_devices_.size());
        /* Which device is chosen may depend on all of a set. */
        replayed.goes_ahead = replayed.head().graph_devices_.size() == 1 && Replay::may_go_ahead(replayed.subgraph);
        replayed.may_double_buffer = replayed.subgraph.ends_at_once && fills_devices(replayed);
        replayed.set.inputs.resize(replayed.subgraph.inputs.size());
        replayed.set.fixed.resize(replayed.subgraph.fixed.size());
        for (const SubgraphOutput &output : replayed.subgraph.outputs)
            replayed.set.on_host.push_back(output.for_host);
        note_spared(replayed);
        make_batch(replayed);
        for (TaskImpl *task : replayed.subgraph.tasks)
            task->replayed_ = &replayed;
        if (const auto &graph_devices = replayed.head().graph_devices_; graph_devices.size() > 1)
            for (const GraphDevice *graph_device : graph_devices)
                launch_threads_.try_emplace(graph_device, runner_.mutex(),
                                            [this](Lock &lock, ReplayedSubgraph &replayed) PTASK_LOCKED {
                                                runner_.time_passed();
                                                give(lock, replayed);
                                                go_on(lock);
                                                runner_.hand_over();
                                            });
    }
}

/* Whether each of its kernels leaves no room for another like it, on any of its devices. */
bool Replayer::fills_devices(const ReplayedSubgraph &replayed)
{
    const auto fills = [](const SubgraphStep &step, const GraphDevice *graph_device) {
        const auto most = graph_device->device->most_threads();
        return !step.task || (most && 2 * step.task->geometry_.threads() > static_cast<double>(*most));
    };
    return std::ranges::all_of(replayed.head().graph_devices_, [&](const GraphDevice *graph_device) {
        return std::ranges::all_of(replayed.subgraph.steps,
                                   [&](const SubgraphStep &step) { return fills(step, graph_device); });
    });
}

/* Who gives tasks of a subgraph different priorities wants one of them to run before others. */
bool Replayer::is_uniform(const ReplayedSubgraph &replayed) const
{
    const TaskImpl &head = replayed.head();
    return std::all_of(replayed.subgraph.tasks.begin(), replayed.subgraph.tasks.end(),
                       [&](const TaskImpl *task) PTASK_LOCKED {
                           return task->priority_ == head.priority_ && task->proxy_priority_ == head.proxy_priority_;
                       });
}

/* Other graphs that use its devices get their share run by run. */
bool Replayer::has_company(const ReplayedSubgraph &replayed)
{
    return std::any_of(replayed.head().graph_devices_.begin(), replayed.head().graph_devices_.end(),
                       [](const GraphDevice *graph_device) {
                           return graph_device->device_share && !graph_device->device_share->alone();
                       });
}

bool Replayer::components_compete()
{
    if (!std::exchange(priorities_are_new_, false))
        return components_compete_;
    std::set<double> priorities;
    std::set<std::size_t> components;
    for (const auto &task : *tasks_)
        if (!task->on_host_) {
            priorities.insert(task->priority(weights_));
            components.insert(task->component_);
        }
    return components_compete_ = priorities.size() > 1 && components.size() > 1;
}

std::size_t Replayer::runs_of(std::size_t tasks, double seconds, bool others_first)
{
    const std::size_t most = std::min(tasks, most_counted);
    const double longest = static_cast<double>(most) * seconds_of_a_run;
    if (others_first || seconds >= longest)
        return most;
    return std::max<std::size_t>(1, static_cast<std::size_t>(seconds / seconds_of_a_run));
}

void Replayer::priorities_changed(TaskImpl &task)
{
    ReplayedSubgraph *replayed = task.replayed_;
    priorities_are_new_ = true;
    if (replayed && replayed->mode != ReplayedSubgraph::apart && !is_uniform(*replayed))
        separate(*replayed, replayed->patience);
    hurry();
    runner_.hand_over();
}

void Replayer::ran(TaskImpl &task, Seconds took, bool odd)
{
    ReplayedSubgraph &replayed = *task.replayed_;
    const std::uint64_t number = ++task.begun_;

    if (odd) {
        separate(replayed, replayed.patience);
    } else if (replayed.mode == ReplayedSubgraph::halting) {
        if (!--replayed.missing)
            join(replayed);
    } else {
        /* The first runs take longer. */
        if (number > 1)
            replayed.run_seconds.add(took.count());
        if (&task == replayed.subgraph.tasks.back() && number >= replayed.until && is_uniform(replayed) &&
            !has_company(replayed))
            halt(replayed);
    }
}

void Replayer::halt(ReplayedSubgraph &replayed)
{
    replayed.mode = ReplayedSubgraph::halting;
    replayed.until = replayed.missing = replayed.stalled = 0;
    for (const TaskImpl *task : replayed.subgraph.tasks)
        replayed.until = std::max(replayed.until, task->begun_);
    for (const TaskImpl *task : replayed.subgraph.tasks)
        replayed.missing += replayed.until - task->begun_;
    if (!replayed.missing)
        join(replayed);
}

/* Each task has run as often as the others, and nothing is between them. */
void Replayer::join(ReplayedSubgraph &replayed)
{
    replayed.mode = ReplayedSubgraph::together;
    replayed.stalled = replayed.compared = 0;
    replayed.least_seconds = HUGE_VAL;
    replayed.sets_before = replayed.sets;
    replayed.absent = 0;
    replayed.gpu_seconds = 0;
    for (const TaskImpl *task : replayed.subgraph.tasks)
        replayed.gpu_seconds += task->run_time_.value();
    for (const SubgraphInput &input : replayed.subgraph.inputs)
        replayed.absent += !input.channel->has_token();
    for (std::size_t i = 0; i < replayed.subgraph.fixed.size(); i++) {
        const PortImpl &port = *replayed.subgraph.fixed[i].port;
        replayed.set.fixed[i] = port.options_.kind == PortKind::sticky ? port.kept_ : port.options_.initial;
        replayed.sticky_came = replayed.sticky_came || (port.from_ && !port.from_->tokens.empty());
    }
    replayed.set.changes++;
    wake_watcher();
    look_at(replayed);
}

/* Its tasks run by themselves, at least that often. */
void Replayer::separate(ReplayedSubgraph &replayed, std::uint64_t runs)
{
    if (replayed.launching) {
        replayed.apart_for = std::max(replayed.apart_for, runs);
        return;
    }
    replayed.for_replays([](Replay &replay) { replay.forget_ahead(); });
    replayed.mode = ReplayedSubgraph::apart;
    replayed.waits = false;
    replayed.before_sticky = 0;
    replayed.until = 0;
    for (const TaskImpl *task : replayed.subgraph.tasks)
        replayed.until = std::max(replayed.until, task->begun_);
    replayed.until += runs;
    for (TaskImpl *task : replayed.subgraph.tasks)
        runner_.look_at(*task);
}

std::uint64_t Replayer::first_patience() const
{
    return mode_ == Lower::always ? 1 : steady_runs;
}

void Replayer::give_up(ReplayedSubgraph &replayed)
{
    const bool was_worth_it = replayed.sets - replayed.sets_before >= sets_worth_it;
    replayed.patience = was_worth_it ? first_patience() : std::min(replayed.patience * longer, longest);
    separate(replayed, replayed.patience);
}

bool Replayer::has_room(const ReplayedSubgraph &replayed) const
{
    for (const SubgraphOutput &output : replayed.subgraph.outputs)
        for (const Channel *channel : output.channels)
            if (!channel->has_room())
                return false;
    return true;
}

/* For who has slept since nothing was going on: it may be up to him to find that nothing goes on though it should. */
void Replayer::wake_watcher()
{
    if (watched_)
        return;
    watched_ = true;
    runner_.begin_to_watch();
}

void Replayer::came(const Channel &channel)
{
    const PortImpl &port = *channel.destination;
    ReplayedSubgraph &replayed = *port.task_.replayed_;

    if (replayed.mode == ReplayedSubgraph::apart)
        return;
    replayed.moved = true;
    wake_watcher();
    if (replayed.mode == ReplayedSubgraph::halting)
        return;
    if (port.options_.kind == PortKind::sticky) {
        replayed.sticky_came = true;
        if (replayed.waits) {
            replayed.before_sticky = Batch::complete(replayed.subgraph);
            look_at(replayed);
        }
        return;
    }
    if (channel.tokens.size() == 1)
        replayed.absent--;
    if (!replayed.waits || Batch::has_news(channel))
        look_at(replayed);
}

void Replayer::left(ReplayedSubgraph &replayed)
{
    if (replayed.mode == ReplayedSubgraph::apart)
        return;
    replayed.moved = true;
    wake_watcher();
    look_at(replayed);
}

/*
 * If its set is complete, or can be begun with, it is given to a GPU by who has the lock, unless something else is due
 * before it, or it waits for others.
 */
void Replayer::look_at(ReplayedSubgraph &replayed)
{
    TaskImpl &head = replayed.head();
    if (runner_.is_stopping() || replayed.mode != ReplayedSubgraph::together || replayed.launching || head.queued_)
        return;
    const bool complete = !replayed.absent && has_room(replayed);
    replayed.waits = complete && waits_for_more(replayed);
    replayed.hurries = replayed.hurries && complete;
    if (replayed.waits || (!complete && !has_ahead(replayed)))
        return;
    /* What has ended may not be known yet. */
    const bool full = runner_.devices().full(false) && !(poll() && !runner_.devices().full(false));
    const bool in_turn = full || components_compete() || runner_.any_due_on_devices();
    if (in_turn && !complete)
        return;
    head.queued_ = true;
    if (in_turn)
        runner_.add_due(head);
    else
        direct_.push_back(&replayed);
}

void Replayer::go_on(Lock &lock)
{
    device::BorrowedThread borrowed; /* once for a set, not for each call */
    while (!direct_.empty()) {
        ReplayedSubgraph &replayed = *direct_.back();
        direct_.pop_back();
        replayed.head().queued_ = false;
        if (!attempt(lock, replayed.head()))
            runner_.look_at(replayed.head());
    }
}

bool Replayer::attempt(Lock &lock, TaskImpl &task)
{
    ReplayedSubgraph *replayed = task.replayed_;
    if (!replayed || replayed->mode != ReplayedSubgraph::together)
        return false;
    if (has_company(*replayed)) {
        separate(*replayed, replayed->patience);
        return replayed->mode == ReplayedSubgraph::together;
    }
    if (replayed->launching || runner_.is_stopping() || runner_.has_failed())
        return true;
    if (!replayed->absent && has_room(*replayed)) {
        look_for_last(*replayed);
        launch(lock, *replayed);
    } else if (has_ahead(*replayed)) {
        go_ahead(lock, *replayed);
    }
    return true;
}

bool Replayer::has_signals(const ReplayedSubgraph &replayed)
{
    auto is_odd = [](const Channel &channel) PTASK_LOCKED {
        const Item &item = channel.tokens.front().item;
        return !item.block || item.end_of_stream || item.error;
    };
    for (const SubgraphInput &input : replayed.subgraph.inputs)
        if (is_odd(*input.channel))
            return true;
    for (const SubgraphConstant &fixed : replayed.subgraph.fixed)
        if (const Channel *from = fixed.port->from_; replayed.sticky_came && from && from->has_token() && is_odd(*from))
            return true;
    return false;
}

void Replayer::take_fixed(ReplayedSubgraph &replayed)
{
    replayed.sticky_came = false;
    for (std::size_t i = 0; i < replayed.subgraph.fixed.size(); i++) {
        PortImpl &port = *replayed.subgraph.fixed[i].port;
        if (!port.from_ || port.options_.kind != PortKind::sticky)
            continue;
        if (port.from_->has_token()) {
            replayed.set.fixed[i] = port.kept_ = port.from_->tokens.pop_front().item.block;
            replayed.set.changes++;
            runner_.took_from(*port.from_);
        }
        replayed.sticky_came = replayed.sticky_came || !port.from_->tokens.empty();
    }
}

bool Replayer::take(ReplayedSubgraph &replayed)
{
    if (has_signals(replayed)) {
        separate(replayed, replayed.patience);
        return false;
    }
    /* Before anybody who waits for the room can bring more. */
    replayed.launching = true;
    launching_++;
    replayed.is_batch = replayed.batch && Batch::is_complete(replayed.subgraph) && may_batch(replayed);
    if (replayed.before_sticky)
        replayed.before_sticky--;
    else if (replayed.sticky_came)
        take_fixed(replayed);
    ReplaySet &set = replayed.set_at_hand();
    const Subgraph &taken = replayed.subgraph_at_hand();
    if (replayed.is_batch && set.changes != replayed.set.changes) {
        set.fixed = replayed.set.fixed;
        set.changes = replayed.set.changes;
    }
    for (std::size_t i = 0; i < taken.inputs.size(); i++) {
        Channel &channel = *taken.inputs[i].channel;
        set.inputs[i] = channel.tokens.pop_front().item.block;
        replayed.absent += channel.tokens.empty();
        runner_.took_from(channel);
    }
    for (const SubgraphOutput &output : taken.outputs)
        for (Channel *channel : output.channels)
            channel->promised++;
    return true;
}

/* The set could not be given: its blocks are the next again. */
void Replayer::put_back(ReplayedSubgraph &replayed)
{
    const Subgraph &taken = replayed.subgraph_at_hand();
    for (std::size_t i = taken.inputs.size(); i--;) {
        Channel &channel = *taken.inputs[i].channel;
        channel.tokens.push_front({{std::move(replayed.set_at_hand().inputs[i])}});
        replayed.absent -= channel.tokens.size() == 1;
    }
    for (const SubgraphOutput &output : taken.outputs)
        for (Channel *channel : output.channels)
            channel->promised--;
}

void Replayer::pass_on(ReplayedSubgraph &replayed, Replay &replay)
{
    const std::vector<SubgraphOutput> &outputs = replayed.subgraph_at_hand().outputs;
    for (std::size_t i = 0; i < outputs.size(); i++)
        for (Channel *channel : outputs[i].channels) {
            channel->promised--;
            runner_.put_into(*channel, {{replay.outputs()[i]}});
        }
    replay.passed_on();
}

std::size_t Replayer::choose_device(ReplayedSubgraph &replayed)
{
    TaskImpl &head = replayed.head();
    if (head.graph_devices_.size() == 1)
        return 0;
    if (Clock::now() - looked_ > most_unknown)
        poll();
    probe_.begin(head, head.ports_.size());
    for (std::size_t i = 0; i < replayed.subgraph.inputs.size(); i++)
        if (const PortImpl &port = *replayed.subgraph.inputs[i].channel->destination; &port.task_ == &head)
            probe_.held[port.index_] = replayed.set.inputs[i];
    const std::size_t which = runner_.devices().choose(probe_);
    probe_.end();
    return which;
}

void Replayer::fail(const ReplayedSubgraph &replayed, const GraphDevice &graph_device, const std::exception &error)
{
    runner_.fail({replayed.subgraph.tasks.begin(), replayed.subgraph.tasks.end()}, graph_device, error);
}

void Replayer::for_tasks_at(const GraphDevice &graph_device,
                            const std::function<void(const TaskImpl *)> &function) const
{
    for (const auto &replayed : replayed_)
        for (std::size_t i = 0; i < replayed->flights.size(); i++)
            if (replayed->flights[i].graph_device == &graph_device)
                std::ranges::for_each(replayed->subgraph.tasks, function);
}

/* It must not take the host much longer than its tasks by themselves: what comes after them waits less. */
void Replayer::compare(ReplayedSubgraph &replayed, Seconds took)
{
    const double apart =
        replayed.run_seconds.value() * static_cast<double>(replayed.subgraph.tasks.size() * replayed.sets_at_hand());
    replayed.least_seconds = std::min(replayed.least_seconds, took.count());
    if (++replayed.compared < comparisons)
        return;
    const bool takes_longer = apart > 0 && replayed.least_seconds > most_longer * apart;
    replayed.compared = 0;
    replayed.least_seconds = HUGE_VAL;
    if (takes_longer)
        give_up(replayed);
}

bool Replayer::is_awaited() const
{
    return is_busy() && (runner_.any_due() || runner_.is_stopping());
}

bool Replayer::poll()
{
    const std::size_t before = flying_;
    looked_ = Clock::now();
    for (std::size_t i = 0; flying_ && i < replayed_.size(); i++) {
        ReplayedSubgraph &replayed = *replayed_[i];
        const GraphDevice *graph_device = nullptr;
        try {
            while (!replayed.flights.empty() && !runner_.has_failed()) {
                graph_device = replayed.flights.front().graph_device;
                if (!replayed.flights.front().marker->reached())
                    break;
                ended(replayed, looked_);
            }
        } catch (const std::exception &error) {
            fail(replayed, *graph_device, error);
        }
    }
    return flying_ < before;
}

/* Something of a set is there that a task could begin with, but not all, and nothing else is going on. */
bool Replayer::is_stalled(const ReplayedSubgraph &replayed) const
{
    if (replayed.mode == ReplayedSubgraph::apart || replayed.head().queued_ || replayed.launching ||
        !replayed.flights.empty())
        return false;
    if (replayed.mode == ReplayedSubgraph::together && replayed.absent == replayed.subgraph.inputs.size())
        return false;
    return std::any_of(replayed.subgraph.tasks.begin(), replayed.subgraph.tasks.end(),
                       [](const TaskImpl *task) PTASK_LOCKED { return has_inputs_and_room(*task); });
}

void Replayer::watch()
{
    poll();
    hurry();
    watched_ = is_busy();
    const unsigned enough = mode_ == Lower::always ? most_looks : is_busy() || !runner_.is_idle() ? more_looks : looks;
    for (const auto &replayed : replayed_) {
        const bool moved = std::exchange(replayed->moved, false);
        replayed->stalled = !moved && is_stalled(*replayed) ? replayed->stalled + 1 : 0;
        watched_ = watched_ || moved || replayed->stalled;
        if (replayed->stalled >= enough)
            give_up(*replayed);
    }
}

void Replayer::settle(Lock &lock)
{
    landed_.wait(lock, [this]() PTASK_LOCKED { return !launching_; });
    auto *const all = &queues_; /* they stay as they are: nobody begins to launch any more */
    Unlocked unlocked(lock, runner_.mutex());
    for (auto &[graph_device, queues] : *all) {
        for (SetQueue &one : queues.for_sets)
            device::settle(*one.queue);
        if (queues.for_results)
            device::settle(*queues.for_results);
    }
}

void Replayer::close(Lock &lock)
{
    landed_.wait(lock, [this]() PTASK_LOCKED { return !launching_; });
    for (const auto &replayed : replayed_) {
        for (auto &replays : replayed->replays)
            replays.clear();
        replayed->lone_replays.clear();
        replayed->batch.reset();
        replayed->flights.clear();
        replayed->set.inputs.clear();
    }
    flying_ = 0;
}

} // namespace ptsched::ptask
