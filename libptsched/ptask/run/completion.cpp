// SPDX-License-Identifier: MIT
/* What of a graph's work has ended. */
#include "libptsched/ptask/replay/replayer.hpp"
#include "libptsched/ptask/run/scheduler.hpp"

#include <algorithm>
#include <utility>

namespace ptsched::ptask {

namespace {

/* How many runs were given to a lane since one with a marker when it is looked into, and how many it has then. */
constexpr std::size_t runs_since_a_marker = runs_for_a_marker / 2;
constexpr std::size_t runs_for_a_look_back = runs_since_a_marker + runs_for_a_marker;

} // namespace

/* What a run has written is there, and can be given on. */
void Scheduler::ended(Run &run)
{
    run.done = true;
    if (run.late)
        flush(*run.task);
    else
        complete(run);
}

/* Runs give on what they have in the order in which they began. */
void Scheduler::flush(TaskImpl &task)
{
    while (!task.undelivered_.empty() && task.undelivered_.front()->done) {
        Run &run = *task.undelivered_.pop_front();
        deliver(run);
        complete(run);
    }
}

void Scheduler::complete(Run &run)
{
    TaskImpl &task = *run.task;
    task.running_--;
    task.completed_++;
    running_--;
    run.end();
    spare_.push_back(&run);
    /* Of the room that was promised some may not have been used. */
    if (task.again_)
        look_at(task);
}

/* Whether it is only by looking that somebody finds that it has ended who waits for that. */
bool Scheduler::awaits(const Run &run)
{
    return run.late && !run.task->on_host_;
}

/* Takes note of what has ended; false if nothing had. */
bool Scheduler::poll()
{
    unpolled_ = 0;
    polled_ = now_.look();
    bool any = poll_fetches();
    any = replayer_->poll() || any;
    for (const auto &graph_device : graph_devices_.all)
        for (const auto &lane : graph_device->lanes)
            any = poll(*lane) || any;
    return any;
}

bool Scheduler::poll_host()
{
    bool any = false;
    for (const auto &graph_device : graph_devices_.all)
        if (graph_device->device == &device::host())
            for (const auto &lane : graph_device->lanes)
                any = poll(*lane) || any;
    return any;
}

/* How many of a lane's runs have ended. They do so in order, and each question takes a driver's time. */
std::size_t Scheduler::ended_in(const Lane &lane)
{
    std::size_t ended = 1, most = lane.runs.size();
    auto has_ended = [&](std::size_t i) { return lane.runs[i]->marker->reached(); };

    if (!most || !has_ended(0))
        return 0;
    if (has_ended(most - 1))
        return most;
    most--;
    while (ended < most) {
        const std::size_t middle = (ended + most) / 2;
        if (has_ended(middle))
            ended = middle + 1;
        else
            most = middle;
    }
    return ended;
}

/* Where it is to be known when each has ended, or which of them has failed. */
bool Scheduler::ends_one_by_one(const Lane &lane) const
{
    return timeline_ || lane.graph_device->device == &device::host();
}

bool Scheduler::poll(Lane &lane)
{
    const bool each = ends_one_by_one(lane);
    bool any = false;

    while (!lane.runs.empty() && failure_.empty()) {
        Run &run = *lane.runs.front();
        try {
            moved(run);
            std::size_t count = each ? run.marker->reached() : ended_in(lane);
            if (!count)
                break;
            take_out(lane, count);
            any = true;
            if (!each)
                break;
        } catch (const std::exception &error) {
            fail({run.task}, *lane.graph_device, error);
        }
    }
    return any;
}

/*
 * Whether a device has ended, in each lane, what was given to it last but one, as far as that has a marker of its own.
 * Together its lanes have many runs: one alone may never have so many, since those that have ended are taken out.
 */
bool Scheduler::keeps_up_in_all(const GraphDevice &graph_device)
{
    std::size_t runs = 0;
    bool any = false;
    for (const auto &lane : graph_device.lanes)
        runs += lane->runs.size();
    if (runs < runs_for_a_look_back)
        return false;
    for (const auto &lane : graph_device.lanes)
        for (std::size_t i = lane->runs.size(); i-- > 1;)
            if (const Run &run = *lane->runs[i - 1]; run.asked) {
                if (!run.marker->reached())
                    return false;
                any = true;
                break;
            }
    return any;
}

/* Now and then, after a run was given to it: what has ended, as far as that was to be marked. */
void Scheduler::look_into(Lane &lane)
{
    GraphDevice &graph_device = *lane.graph_device;
    if (lane.given % runs_for_a_marker != runs_since_a_marker)
        return;
    try {
        if (lane.runs.size() >= runs_for_a_look_back)
            look_back(lane);
        else if (!graph_device.narrow && !graph_device.wide_left && graph_device.device != &device::host() &&
                 keeps_up_in_all(graph_device))
            graph_device.keeps_up(lane, true);
    } catch (const std::exception &error) {
        fail({lane.runs.front()->task}, graph_device, error);
    }
}

void Scheduler::look_back(Lane &lane)
{
    std::size_t count = lane.runs.size() - runs_since_a_marker;
    const bool all = lane.runs[count - 1]->marker->reached();
    lane.graph_device->keeps_up(lane, all);
    if (ends_one_by_one(lane))
        return;
    /* In between, the one in the middle. */
    count -= all ? 0 : (count / runs_for_a_marker + 1) / 2 * runs_for_a_marker;
    if (count && (all || lane.runs[count - 1]->marker->reached()))
        take_out(lane, count);
}

/* The first so many of a lane have ended; what they took together is shared between them. */
void Scheduler::take_out(Lane &lane, std::size_t count)
{
    const double seconds = GraphDevices::taken(lane, now_.look()) / static_cast<double>(count);
    for (; count && failure_.empty(); count--) {
        lane.runs.front()->marker->see();
        left(*lane.runs.front(), seconds);
    }
}

/* What it needed is there, if somebody asks. */
void Scheduler::moved(Run &run)
{
    if (!run.copied || !run.copied->reached())
        return;
    timeline_->moved(run, Clock::now());
    run.copied.reset();
}

void Scheduler::measured(const Run &run, GraphDevice &graph_device)
{
    const double seconds = run.watch->seconds();
    if (graph_device.turns)
        graph_device.turns->measured(seconds);
    if (seconds > 0)
        run.task->kernel_time_.add(seconds);
}

/* A run is no longer in its queue, where it was the first. */
void Scheduler::left(Run &run, double seconds)
{
    if (run.copied)
        timeline_->moved(run, now_.get());
    if (timeline_)
        timeline_->ran(run, now_.get());
    GraphDevice &graph_device = *run.lane->graph_device;
    awaited_ -= awaits(run);
    graph_devices_.end(run, now_.get(), seconds, due_[!run.task->on_host_].of(*run.task));
    if (run.watch)
        measured(run, graph_device);
    if (run.task->on_host_)
        look_at(*run.task);
    /* Whether a loop goes on is read on the host. */
    Fetch started;
    if (const PortImpl *again = run.task->again_)
        started = fetch(*run.held[again->index()]);
    if (graph_device.turns)
        graph_device.turns->ended();
    if (started) {
        started.run = &run;
        fetches_.push_back(std::move(started));
    } else {
        ended(run);
    }
}

const TaskImpl &Scheduler::task_of(const Fetch &fetch)
{
    if (fetch.run)
        return *fetch.run->task;
    return (fetch.channel->destination ? fetch.channel->destination : fetch.channel->source)->task();
}

bool Scheduler::poll_fetches()
{
    bool any = false;
    for (std::size_t i = 0; i < fetches_.size() && failure_.empty();) {
        const Fetch fetch = fetches_[i];
        const TaskImpl &task = task_of(fetch);
        try {
            if (!fetch.marker->reached()) {
                i++;
                continue;
            }
            fetches_.erase(fetches_.begin() + static_cast<std::ptrdiff_t>(i));
            any = true;
            if (fetch.from && fetch.counts && fetch.from->turns)
                fetch.from->turns->ended();
            if (fetch.from && fetch.counts && timeline_)
                timeline_->fetched(*fetch.from->device, task, fetch.bytes, fetch.began, Clock::now());
            arrived(fetch);
        } catch (const std::exception &error) {
            if (fetch.from)
                fail({&task}, *fetch.from, error);
            else
                fail(task, error.what());
        }
    }
    return any;
}

void Scheduler::arrived(const Fetch &fetch)
{
    if (fetch.run) {
        ended(*fetch.run);
        return;
    }
    /* Those of several devices come in any order. */
    Ring<Token> &tokens = fetch.channel->tokens;
    for (std::size_t i = 0; i < tokens.size(); i++)
        tokens[i].here = tokens[i].here || tokens[i].item.block.get() == fetch.block;
    if (const PortImpl *destination = fetch.channel->destination)
        look_at(destination->task_);
    else
        fetch.channel->wake();
}

/* When nothing is looked for any more. */
void Scheduler::all_is_here(Channel &channel)
{
    for (std::size_t i = 0; i < channel.tokens.size(); i++)
        channel.tokens[i].here = true;
    channel.wake();
}

} // namespace ptsched::ptask
