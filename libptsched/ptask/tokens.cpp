// SPDX-License-Identifier: MIT
// What comes into channels and goes out of them.
#include "launch.hpp"
#include "scheduler.hpp"

#include <algorithm>

namespace ptsched::ptask {

namespace {

void add_signals(Item &signals, const Item &more)
{
    signals.end_of_stream = signals.end_of_stream || more.end_of_stream;
    if (!signals.error)
        signals.error = more.error;
}

} // namespace

auto Scheduler::waker(Channel &channel)
{
    return [this, &channel] {
        std::lock_guard lock(mutex_);
        channel.wake();
    };
}

/* False when the time is up or the graph or the caller stops first. */
template <typename Condition>
bool Scheduler::wait(Lock &lock, Channel &channel, Timeout timeout, const std::stop_token &stop, Condition condition)
{
    auto ended = [&] { return condition() || stopping_ || !failure_.empty() || stop.stop_requested(); };
    throw_if_failed();
    channel.waiting++;
    if (timeout)
        channel.changed.wait_for(lock, *timeout, ended);
    else
        channel.changed.wait(lock, ended);
    channel.waiting--;
    throw_if_failed();
    return condition();
}

bool Scheduler::push(Channel &channel, Item &&item, Timeout timeout, const std::stop_token &stop)
{
    const std::string &name = channel.destination->full_name();
    const Template &form = channel.port().form;
    if (!item.block && !item.end_of_stream && !item.error)
        throw Error("neither a datablock nor a signal was pushed to " + name);
    if (item.block && !form.takes(item.block->bytes()))
        throw Error("a datablock of " + std::to_string(item.block->bytes()) + " bytes does not fit " + name +
                    ", which takes " + form.describe());
    if (item.block && !item.block->has_content())
        throw Error("a datablock without content was pushed to " + name);
    std::stop_callback wake(stop, waker(channel));
    Lock lock(mutex_);
    if (!wait(lock, channel, timeout, stop, [&] { return channel.has_room(); }) || stopping_)
        return false;
    now_ = Clock::now();
    put_into(channel, {std::move(item)});
    return true;
}

std::optional<Item> Scheduler::pull(Channel &channel, Timeout timeout, const std::stop_token &stop)
{
    std::stop_callback wake(stop, waker(channel));
    Lock lock(mutex_);
    if (!wait(lock, channel, timeout, stop, [&] { return !channel.tokens.empty(); }))
        return {};
    Item item = channel.tokens.pop_front().item;
    now_ = Clock::now();
    took_from(channel);
    return item;
}

void Scheduler::give_back(Channel &channel, Item &&item)
{
    Lock lock(mutex_);
    channel.tokens.push_front({std::move(item)});
    channel.wake();
}

bool Scheduler::has_input(const Port &port)
{
    const Channel *channel = port.looping_ ? port.loop_ : port.from_;

    if (!port.takes() || (channel && channel->has_token()))
        return true;
    if (port.options_.kind == PortKind::sticky)
        return port.kept_ != nullptr;
    return !channel && port.options_.initial;
}

bool Scheduler::can_run(const Task &task)
{
    for (const auto &port : task.ports_) {
        if (!has_input(*port))
            return false;
        for (const Channel *channel : port->to_)
            if (!channel->has_room())
                return false;
    }
    return true;
}

/* To be called when something has come that it may have waited for. */
void Scheduler::look_at(Task &task)
{
    if (!started_ || task.queued_ || !can_run(task))
        return;
    task.queued_ = true;
    double priority = task.priority_ + weights_.proxy * task.proxy_priority_;
    due_[!task.on_host_].add(task, priority, task.run_time_.value(), now_);
    wake_thread();
}

void Scheduler::took_from(Channel &channel)
{
    if (channel.source)
        look_at(channel.source->task_);
    else
        channel.wake();
}

/* Starts the copy to the host of what is not only there; without marker if nothing is to be waited for. */
Scheduler::Fetch Scheduler::fetch(Datablock &block)
{
    for (const auto &place : places_.all) {
        device::Device &device = *place->device;
        if (&device != &device::host() && !block.missing(device)) {
            block.use(device::host(), device.outgoing());
            return {device.outgoing().mark(), &device, block.bytes(), Clock::now()};
        }
    }
    /* From a device of another graph. */
    if (block.missing(device::host()))
        block.read();
    return {};
}

void Scheduler::put_into(Channel &channel, Token &&token)
{
    const Port *port = channel.destination;

    if (port && port->read_ && token.item.block)
        if (Fetch started = fetch(*token.item.block)) {
            token.here = false;
            started.channel = &channel;
            fetches_.push_back(std::move(started));
            wake_thread();
        }
    channel.tokens.push_back(std::move(token));
    if (port)
        look_at(port->task_);
    else
        channel.wake();
}

void Scheduler::take_input(Run &run, Port &port)
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
    if (port.options_.kind == PortKind::sticky)
        block = port.kept_ = block ? block : port.kept_;
    run.absent = run.absent || (!block && (any || port.options_.kind == PortKind::sticky));
}

/* Into the room that was promised. */
void Scheduler::deliver(Run &run)
{
    const Task &task = *run.task;
    bool again = task.again_ && !run.absent && integer_in(*run.held[task.again_->index_]);

    if (task.has_call_ && !run.absent && !run.skipped)
        add_signals(run.signals, run.call.signals_);
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
