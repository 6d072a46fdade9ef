// SPDX-License-Identifier: MIT
#include "scheduler.hpp"

#include "access.hpp"

#include <algorithm>
#include <utility>

namespace ptsched::ptask {

namespace {

using device::Access;

constexpr unsigned gpu_lanes = 4, host_lanes = 2;
/* Given to a queue and not ended: enough to keep a device busy, and few enough to choose among the rest. */
constexpr std::size_t most_in_lane = 32;
/* Between two looks at work that runs: the longer, the longer nothing has ended. */
constexpr std::chrono::microseconds shortest_nap{20}, longest_nap{500};

} // namespace

Scheduler::~Scheduler()
{
    stop();
}

void Scheduler::add_lanes(device::Device &device, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        lanes_.emplace_back(new Lane{&device, {}, device.make_queue()});
}

void Scheduler::start(const std::vector<std::unique_ptr<Task>> &tasks)
{
    std::vector<device::Device *> devices;
    for (const auto &task : tasks)
        for (device::Device *device : task->devices_)
            if (std::find(devices.begin(), devices.end(), device) == devices.end())
                devices.push_back(device);
    for (device::Device *device : devices)
        add_lanes(*device, device == &device::host() ? host_lanes : gpu_lanes);
    Lock lock(mutex_);
    started_ = true;
    for (const auto &task : tasks)
        look_at(*task);
    lock.unlock();
    thread_ = std::thread(&Scheduler::work, this);
}

void Scheduler::stop()
{
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    wanted_.notify_one();
    if (thread_.joinable())
        thread_.join();
    /* Waits for what was given to them, so that nothing uses the blocks that go. */
    lanes_.clear();
}

bool Scheduler::started() const
{
    std::lock_guard lock(mutex_);
    return started_;
}

void Scheduler::throw_if_failed() const
{
    if (!failure_.empty())
        throw Error(failure_);
}

/* False when the time is up or the graph stops first. */
template <typename Condition> bool Scheduler::wait(Lock &lock, Timeout timeout, Condition condition)
{
    auto ended = [&] { return condition() || stopping_ || !failure_.empty(); };
    if (timeout)
        changed_.wait_for(lock, *timeout, ended);
    else
        changed_.wait(lock, ended);
    throw_if_failed();
    return condition();
}

bool Scheduler::push(Channel &channel, DatablockPtr block, Timeout timeout)
{
    const PortOptions &port = channel.port();
    if (!block || block->bytes() != port.form.bytes())
        throw Error("a datablock of " + std::to_string(block ? block->bytes() : 0) + " bytes does not fit " +
                    channel.destination->full_name() + ", which takes " + std::to_string(port.form.bytes()));
    if (!block->has_content())
        throw Error("a datablock without content was pushed to " + channel.destination->full_name());
    Lock lock(mutex_);
    throw_if_failed();
    if (!wait(lock, timeout, [&] { return channel.has_room(); }) || stopping_)
        return false;
    put_into(channel, std::move(block));
    return true;
}

DatablockPtr Scheduler::pull(Channel &channel, Timeout timeout)
{
    Lock lock(mutex_);
    throw_if_failed();
    if (!wait(lock, timeout, [&] { return !channel.blocks.empty(); }))
        return nullptr;
    DatablockPtr block = std::move(channel.blocks.front());
    channel.blocks.pop_front();
    took_from(channel);
    return block;
}

State Scheduler::state(const Task &task) const
{
    std::lock_guard lock(mutex_);
    if (task.running_)
        return State::executing;
    if (task.queued_)
        return State::queued;
    return task.completed_ ? State::completed : State::waiting;
}

std::uint64_t Scheduler::completed(const Task &task) const
{
    std::lock_guard lock(mutex_);
    return task.completed_;
}

void Scheduler::set_priority(Task &task, int priority)
{
    std::lock_guard lock(mutex_);
    task.priority_ = priority;
}

bool Scheduler::can_run(const Task &task) const
{
    return std::all_of(task.ports_.begin(), task.ports_.end(), [](const auto &port) {
        const auto &channels = port->channels_;
        switch (port->options_.kind) {
        case PortKind::input:
            return !channels[0]->blocks.empty();
        case PortKind::sticky:
            return port->kept_ || !channels[0]->blocks.empty();
        case PortKind::output:
            return std::all_of(channels.begin(), channels.end(), [](const Channel *c) { return c->has_room(); });
        }
        return false;
    });
}

/* To be called when something has come that it may have waited for. */
void Scheduler::look_at(Task &task)
{
    if (!started_ || task.queued_ || !can_run(task))
        return;
    task.queued_ = true;
    std::chrono::duration<double> waits_since = Clock::now() - began_;
    due_.push({task.priority_ - waits_since.count(), number_++, &task});
    wanted_.notify_one();
}

void Scheduler::took_from(Channel &channel)
{
    if (channel.source)
        look_at(channel.source->task_);
    else
        changed_.notify_all();
}

void Scheduler::put_into(Channel &channel, DatablockPtr block)
{
    channel.blocks.push_back(std::move(block));
    if (channel.destination)
        look_at(channel.destination->task_);
    else
        changed_.notify_all();
}

/* The device to which the least must be moved; there, the queue that writes an input, or the shortest. */
Scheduler::Lane &Scheduler::choose(const Task &task, const std::vector<DatablockPtr> &blocks)
{
    Lane *best = nullptr;
    std::pair<std::size_t, std::size_t> least;

    for (auto &lane : lanes_) {
        if (std::find(task.devices_.begin(), task.devices_.end(), lane->device) == task.devices_.end())
            continue;
        std::size_t bytes = 0;
        bool follows = false;
        for (const DatablockPtr &block : blocks) {
            bytes += block->missing(*lane->device);
            follows = follows || block->queue() == lane->queue.get();
        }
        std::pair rank(bytes, follows && lane->runs.size() < most_in_lane ? 0 : lane->runs.size() + 1);
        if (!best || rank < least) {
            best = lane.get();
            least = rank;
        }
    }
    return *best;
}

/* @run holds the inputs, each in its port's place. */
void Scheduler::launch(Run &run, Lane &lane)
{
    Task &task = *run.task;
    auto which = std::find(task.devices_.begin(), task.devices_.end(), lane.device) - task.devices_.begin();
    std::vector<Access::Item> items(task.ports_.size());
    std::vector<device::Address> addresses(task.ports_.size());
    std::vector<void *> arguments(task.ports_.size());

    for (std::size_t i = 0; i < task.ports_.size(); i++) {
        Port &port = *task.ports_[i];
        DatablockPtr &block = run.held[i];
        if (port.options_.kind == PortKind::output) {
            block = Datablock::empty(port.options_.form.bytes());
            run.late.emplace_back(&port, block);
        } else if (port.options_.by_value && !task.on_host_) {
            arguments[i] = const_cast<void *>(block->read());
            continue;
        }
        items[i] = port.options_.kind == PortKind::output ? Access::writes(*block) : Access::reads(*block);
        arguments[i] = &addresses[i];
    }
    Access access(*lane.device, *lane.queue, items, addresses.data());
    lane.queue->run(*task.codes_[static_cast<std::size_t>(which)], task.geometry_, arguments);
    run.marker = lane.queue->mark();
    access.given(run.marker);
}

void Scheduler::dispatch(Lock &lock, Task &task)
{
    Run run{&task, nullptr, std::vector<DatablockPtr>(task.ports_.size()), {}};
    std::vector<DatablockPtr> inputs;

    task.queued_ = false;
    if (!can_run(task))
        return;
    task.running_++;
    for (std::size_t i = 0; i < run.held.size(); i++) {
        DatablockPtr &block = run.held[i];
        Port &port = *task.ports_[i];
        if (port.options_.kind == PortKind::output) {
            for (Channel *channel : port.channels_)
                channel->promised++;
            continue;
        }
        Channel &channel = *port.channels_[0];
        if (!channel.blocks.empty()) {
            block = std::move(channel.blocks.front());
            channel.blocks.pop_front();
            took_from(channel);
        }
        if (port.options_.kind == PortKind::sticky)
            block = port.kept_ = block ? block : port.kept_;
        inputs.push_back(block);
    }
    Lane &lane = choose(task, inputs);
    running_++;

    /* Drivers take their time. Nobody else adds runs. */
    lock.unlock();
    std::string problem;
    try {
        launch(run, lane);
    } catch (const std::exception &error) {
        problem = error.what();
    }
    lock.lock();
    if (!problem.empty())
        fail(task, problem);
    else if (lane.device->orders_others())
        deliver(std::exchange(run.late, {}));
    /* Also one that failed: copies of its blocks may be under way. */
    lane.runs.push_back(std::move(run));
    look_at(task);
}

/* Into the room that was promised. */
void Scheduler::deliver(const std::vector<std::pair<Port *, DatablockPtr>> &outputs)
{
    for (const auto &[port, block] : outputs)
        for (Channel *channel : port->channels_) {
            channel->promised--;
            put_into(*channel, block);
        }
}

void Scheduler::finish(Run &run)
{
    deliver(run.late);
    run.task->running_--;
    run.task->completed_++;
    running_--;
    look_at(*run.task);
}

/* Takes note of what has ended; false if nothing had. */
bool Scheduler::poll()
{
    bool any = false;
    for (auto &lane : lanes_) {
        while (!lane->runs.empty()) {
            Run &run = lane->runs.front();
            try {
                if (!run.marker->reached())
                    break;
            } catch (const Error &error) {
                fail(*run.task, error.what());
                return true;
            }
            finish(run);
            lane->runs.pop_front();
            any = true;
        }
    }
    return any;
}

void Scheduler::fail(const Task &task, const std::string &what)
{
    failure_ = "task " + task.name_ + ": " + what;
    changed_.notify_all();
}

void Scheduler::work()
{
    Lock lock(mutex_);
    auto nap = shortest_nap;

    device::adopt_thread();
    while (failure_.empty()) {
        bool full = std::all_of(lanes_.begin(), lanes_.end(),
                                [](const auto &lane) { return lane->runs.size() >= most_in_lane; });
        if (stopping_ && !running_)
            break;
        if (!stopping_ && !full && !due_.empty()) {
            Task &task = *due_.top().task;
            due_.pop();
            dispatch(lock, task);
            if (failure_.empty())
                poll();
        } else if (poll()) {
            nap = shortest_nap;
        } else if (running_) {
            wanted_.wait_for(lock, nap);
            nap = std::min(2 * nap, longest_nap);
        } else {
            wanted_.wait(lock, [this] { return stopping_ || !due_.empty(); });
        }
    }
    changed_.notify_all();
}

} // namespace ptsched::ptask
