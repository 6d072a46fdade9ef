// SPDX-License-Identifier: MIT
/* What comes into channels and goes out of them. */
#include "libptsched/ptask/graph/readiness.hpp"
#include "libptsched/ptask/replay/replayer.hpp"
#include "libptsched/ptask/run/launch.hpp"
#include "libptsched/ptask/run/scheduler.hpp"
#include <ptsched/device/host_pool.hpp>
#include <ptsched/device/turns.hpp>

#include <algorithm>
#include <utility>

namespace ptsched::ptask {

namespace {

void add_signals(Item &signals, const Item &more)
{
    signals.end_of_stream = signals.end_of_stream || more.end_of_stream;
    if (!signals.error)
        signals.error = more.error;
}

/* The end keeps its place in the channel, so that it is the next one's. */
Item take_before_end(Item &item)
{
    Item before = std::exchange(item, {nullptr, true});
    before.end_of_stream = false;
    return before;
}

/* Throws Error unless it can be pushed there. */
void check(const Item &item, const Channel &channel)
{
    const PortImpl &port = *channel.destination;
    const Template &form = port.options().form;

    if (!item.block && !item.end_of_stream && !item.error)
        throw Error("neither a datablock nor a signal was pushed to " + port.full_name());
    if (item.block && !form.takes(item.block->bytes()))
        throw Error("a datablock of " + std::to_string(item.block->bytes()) + " bytes does not fit " +
                    port.full_name() + ", which takes " + form.describe());
    if (item.block && !item.block->has_content())
        throw Error("a datablock without content was pushed to " + port.full_name());
}

} // namespace

/* Made before the lock is taken, since it takes that. Most cannot be stopped, and need none. */
struct Scheduler::Waker {
    Waker(Scheduler &scheduler, std::span<Channel *const> channels, const std::stop_token &stop)
    {
        if (stop.stop_possible())
            callback.emplace(stop, Wake{scheduler, channels});
    }

private:
    struct Wake {
        void operator()() const
        {
            Guard lock(scheduler.mutex());
            for (Channel *channel : channels)
                channel->wake();
        }
        Scheduler &scheduler;
        std::span<Channel *const> channels;
    };
    std::optional<std::stop_callback<Wake>> callback;
};

/* False when the time is up or the graph or the caller stops first. */
template <typename Condition>
bool Scheduler::wait(Lock &lock, Channel &channel, const Deadline &deadline, const std::stop_token &stop,
                     Condition condition)
{
    auto ended = [&]() PTASK_LOCKED {
        return condition() || (stopping_ && !channel.has_coming()) || !failure_.empty() || stop.stop_requested();
    };
    throw_if_failed();
    if (condition())
        return true;
    if (!deadline && !stop.stop_possible())
        must_come_to_run(channel);
    device::HostPool::Blocked blocked;
    channel.waiting++;
    replayer_->hurry(lock);
    if (deadline)
        Clock::wait_until(channel.changed, lock, *deadline, ended);
    else
        for (Naps naps; !ended();) {
            /* Who can be told to stop does not begin what nobody can. */
            if (!stop.stop_possible() && run_for(lock, channel))
                continue;
            /* It may have let the lock go. */
            if (!ended())
                help_or_rest(lock, channel, naps);
        }
    channel.waiting--;
    hand_over();
    throw_if_failed();
    return condition();
}

/* Who waits for ever for what nobody does is told so. */
void Scheduler::must_come_to_run(const Channel &channel) const
{
    if (started_ || stopping_)
        return;
    if (channel.destination)
        throw Error("the channel to " + channel.destination->full_name() + " is full with " +
                    std::to_string(channel.capacity) + ", and the graph is not run: run() comes first, or a timeout");
    throw Error("nothing comes from " + channel.source->full_name() +
                ", since the graph is not run: run() comes first, or a timeout");
}

bool Scheduler::push(std::span<Channel *const> channels, Item &&item, Timeout timeout, const std::stop_token &stop)
{
    auto has_room = [](const Channel *channel) PTASK_LOCKED { return channel->has_room(); };
    for (const Channel *channel : channels)
        check(item, *channel);
    const Deadline deadline = deadline_of(timeout);
    const Waker waker(*this, channels, stop);
    Lock lock(mutex(), soon);
    /* While it waits for one, others may fill another. */
    for (auto full = channels.begin(); full != channels.end();
         full = std::find_if_not(channels.begin(), channels.end(), has_room))
        if (!wait(lock, **full, deadline, stop, [&]() PTASK_LOCKED { return (*full)->has_room(); }) || stopping_)
            return false;
    now_.passes();
    /* It may fail: all of them get the item, or none. */
    Fetch started = {};
    if (std::ranges::any_of(channels, [&](const Channel *channel) PTASK_LOCKED { return is_fetched(*channel, item); }))
        started = fetch(*item.block);
    for (Channel *channel : channels.subspan(1))
        put_into(*channel, {item}, started);
    put_into(*channels.front(), {std::move(item)}, started);
    replayer_->go(lock);
    advance(lock, deadline.has_value());
    return true;
}

std::optional<Item> Scheduler::pull(Channel &channel, Timeout timeout, const std::stop_token &stop, bool end_stays)
{
    Channel *const one[] = {&channel};
    const Deadline deadline = deadline_of(timeout);
    const Waker waker(*this, one, stop);
    Lock lock(mutex(), soon);
    if (!wait(lock, channel, deadline, stop, [&]() PTASK_LOCKED { return channel.has_output(); }))
        return {};
    if (Item &first = channel.tokens.front().item; end_stays && first.has_more_than_an_end())
        return take_before_end(first);
    Item item = channel.tokens.pop_front().item;
    now_.passes();
    took_from(channel);
    replayer_->go(lock);
    advance(lock, deadline.has_value());
    return item;
}

void Scheduler::give_back(Channel &channel, Item &&item)
{
    Lock lock(mutex());
    channel.tokens.push_front({std::move(item)});
    channel.wake();
}

bool Scheduler::can_run(const TaskImpl &task)
{
    return Replayer::lets(task) && (!task.on_host_ || GraphDevices::takes(task)) && has_inputs_and_room(task);
}

void Scheduler::add_due(TaskImpl &task)
{
    due_[!task.on_host_].add(task, task.priority(weights_), Replayer::seconds(task), now_.get());
}

/* To be called when something has come that it may have waited for. */
void Scheduler::look_at(TaskImpl &task)
{
    if (!started_ || task.queued_ || !can_run(task))
        return;
    task.queued_ = true;
    add_due(task);
}

/* To be called after a token was taken; if there was room before, nobody has waited for it, unless more is complete. */
void Scheduler::took_from(Channel &channel)
{
    if (channel.source && (channel.used() + 1 >= channel.capacity || Replayer::waits_for(channel))) {
        TaskImpl &source = channel.source->task_;
        if (source.replayed_)
            replayer_->left(*source.replayed_);
        look_at(source);
    } else if (!channel.source) {
        channel.wake();
    }
    if (channel.event)
        channel.announce();
}

/* Starts the copy to the host of what is not only there; without marker if nothing is to be waited for. */
Scheduler::Fetch Scheduler::fetch(Datablock &block)
{
    for (const auto &graph_device : graph_devices_.all) {
        device::Device &device = *graph_device->device;
        if (&device != &device::host() && !block.missing(device)) {
            /* By the program that writes it. */
            if (device::MarkerPtr arrival = graph_device->turns ? nullptr : block.arrival_on_host())
                return {std::move(arrival), graph_device.get(), block.bytes(), Clock::now()};
            /* Goes with the work of whoever wrote the block, unless somebody pushes what another graph wrote. */
            if (graph_device->turns)
                graph_device->turns->begin_more();
            try {
                device::Exempt exempt(graph_device->turns != nullptr);
                block.use(device::host(), device.outgoing());
                return {device.outgoing().mark(), graph_device.get(), block.bytes(), Clock::now()};
            } catch (...) {
                if (graph_device->turns)
                    graph_device->turns->ended(false);
                throw;
            }
        }
    }
    /* Another graph's, which may still write it, wherever that is. */
    block.bring_to_host();
    if (device::MarkerPtr arrival = block.arrival_on_host(); arrival && !arrival->reached())
        return {std::move(arrival), nullptr, block.bytes(), Clock::now()};
    return {};
}

/*
 * Who has read what came before will read this, too: it need not wait for the copy to begin. Not where a device is used
 * in turns only: the copy may come after the turn.
 */
void Scheduler::expect_read(Channel &channel, Datablock &block)
{
    unsigned read = channel.reads->load(std::memory_order_relaxed);
    if (read && !graph_devices_.attached()) {
        channel.reads->fetch_sub(1, std::memory_order_relaxed);
        block.bring_to_host();
    }
    block.count_in(channel.reads);
}

/* Whether the run-time reads it, or somebody who is told when he can. */
bool Scheduler::is_fetched(const Channel &channel, const Item &item)
{
    return item.block && (channel.destination ? channel.destination->read_ : static_cast<bool>(channel.event));
}

int Scheduler::descriptor(Channel &channel)
{
    Guard lock(mutex());
    if (!channel.event) {
        if (started_)
            throw Error("a descriptor of the output of " + channel.source->full_name() +
                        " is asked for when the graph has been run: the first time is to be before run()");
        UniqueFd event = above_streams(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        if (!event)
            throw Error(system_error_text("eventfd"));
        channel.event = std::move(event);
        channel.announce();
    }
    return channel.event.get();
}

void Scheduler::put_into(Channel &channel, Token &&token)
{
    Fetch started = {};
    if (is_fetched(channel, token.item))
        started = fetch(*token.item.block);
    put_into(channel, std::move(token), started);
}

/* @started may be for several channels, and no longer counts when the first of them has it. */
void Scheduler::put_into(Channel &channel, Token &&token, Fetch &started)
{
    const PortImpl *port = channel.destination;

    if (!port && token.item.block)
        expect_read(channel, *token.item.block);
    if (started && is_fetched(channel, token.item)) {
        token.here = false;
        started.channel = &channel;
        started.block = token.item.block.get();
        fetches_.push_back(started);
        started.counts = false;
    }
    channel.tokens.push_back(std::move(token));
    if (port && port->task_.replayed_)
        replayer_->came(channel);
    /* Behind others it is not what the task waits for. */
    if (port && channel.tokens.size() == 1)
        look_at(port->task_);
    else if (!port)
        channel.wake();
}

void Scheduler::take_input(Run &run, PortImpl &port)
{
    Channel *channel = port.looping_ ? port.loop_ : port.from_;
    DatablockPtr &block = run.held[port.index_];
    bool any = channel && channel->has_token();

    if (any) {
        Token token = channel->tokens.pop_front();
        port.looping_ = port.loop_;
        took_from(*channel);
        add_signals(run.signals, token.item);
        run.writers[port.index_] = token.writer;
        block = std::move(token.item.block);
    }
    if (port.kind_ == PortKind::sticky)
        block = port.kept_ = block ? block : port.kept_;
    run.absent = run.absent || (!block && (any || port.kind_ == PortKind::sticky));
}

/* Into the room that was promised. */
void Scheduler::deliver(Run &run)
{
    const TaskImpl &task = *run.task;
    bool again = task.again_ && !run.absent && integer_in(*run.held[task.again_->index_]);

    if (task.has_call_ && !run.absent && !run.skipped)
        add_signals(run.signals, run.call.signals);
    for (const auto &port : task.ports_)
        for (Channel *channel : port->to_) {
            channel->promised--;
            if (channel->is_loop == again) {
                const Item &signals = run.signals;
                Writer self{&run, run.number};
                put_into(*channel, {{run.held[port->index_], signals.end_of_stream, signals.error},
                                    run.skipped ? run.writers[port->index_] : self});
            } else if (channel->is_loop) {
                channel->destination->looping_ = false;
                look_at(channel->destination->task_);
            }
        }
}

} // namespace ptsched::ptask
