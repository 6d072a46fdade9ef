// SPDX-License-Identifier: MIT
#include "libptsched/ptask/run/scheduler.hpp"

#include "libptsched/base/no_signals.hpp"
#include "libptsched/ptask/graph/constants.hpp"
#include "libptsched/ptask/graph/readiness.hpp"
#include "libptsched/ptask/replay/replayer.hpp"
#include "libptsched/ptask/run/launch.hpp"
#include "libptsched/ptask/time/nvtx.hpp"
#include <ptsched/device/turns.hpp>

#include <algorithm>
#include <utility>

namespace ptsched::ptask {

namespace {

/* Of what queues of the host throw, what their function did. */
std::exception_ptr cause_of(const std::exception_ptr &error)
{
    try {
        if (error)
            std::rethrow_exception(error);
    } catch (const device::HostFailure &outer) {
        return cause_of(dynamic_cast<const std::nested_exception &>(outer).nested_ptr());
    } catch (...) {
    }
    return error;
}

} // namespace

thread_local const Scheduler::Calling *Scheduler::Calling::innermost_;

bool Scheduler::Calling::is_for(const Scheduler &scheduler)
{
    for (const Calling *calling = innermost_; calling; calling = calling->outer_)
        if (&calling->scheduler_ == &scheduler)
            return true;
    return false;
}

Scheduler::Scheduler(const GraphOptions &options)
    : due_{{options.mode, options.weights}, {options.mode, options.weights}}, graph_devices_(options),
      weights_(options.weights), timeline_(options.timeline ? std::make_unique<Timeline>() : nullptr),
      replayer_(new Replayer(*this, options))
{
}

Scheduler::~Scheduler()
{
    stop();
}

void Scheduler::must_be_new() const
{
    Guard lock(mutex());
    if (started_)
        throw Error("the graph was run already: a graph is run once");
    if (stopping_)
        throw Error("the graph was stopped before it was run: it does not run any more, and another one would do");
}

void Scheduler::start(const std::vector<std::unique_ptr<TaskImpl>> &tasks)
{
    /* Who stops it meanwhile waits until there is something to be stopped. */
    Guard one(stop_mutex_);
    must_be_new();
    auto graph_devices = graph_devices_.make(
        tasks, {[this] { take_up(); }, [this] { host_has_ended(); }, [this] { wanted_.notify_one(); }});
    Lock lock(mutex());
    graph_devices_.add(std::move(graph_devices));
    tasks_ = &tasks;
    try {
        prepare(tasks);
        NoSignals for_it;
        thread_ = std::thread(&Scheduler::work, this);
    } catch (...) {
        stopping_ = true;
        end_outer();
        throw;
    }
    started_ = true;
    for (const auto &task : tasks)
        look_at(*task);
}

void Scheduler::add_outer(Channel &channel)
{
    Guard lock(mutex());
    outer_.push_back(&channel);
}

void Scheduler::prepare(const std::vector<std::unique_ptr<TaskImpl>> &tasks)
{
    work_for_requester();
    for (Arbiter &due : due_)
        due.divide(tasks);
    for (const auto &task : tasks) {
        task->graph_devices_ = graph_devices_.of(task->devices_);
        for (const auto &port : task->ports_) {
            for (const Channel *channel : port->to_) {
                task->followers_++;
                task->outer_ = task->outer_ || !channel->destination || channel->destination->read_;
            }
            if (port->kind_ == PortKind::sticky)
                port->kept_ = port->options_.initial;
            else if (port->takes() && port->from_ && port->options_.initial)
                put_into(*port->from_, {{port->options_.initial}});
        }
    }
    replayer_->start(tasks);
}

void Scheduler::stop()
{
    if (Calling::is_for(*this))
        throw Error("a function of a graph cannot stop the graph, which would wait for it: an error, the end of a "
                    "stream, or another thread would do");
    {
        Lock lock(mutex());
        replayer_->hurry(lock);
        stopping_ = true;
        wake_everybody();
    }
    /* Who comes second waits for as long: a thread is joined once. */
    Guard one(stop_mutex_);
    if (thread_.joinable())
        thread_.join();
    std::vector<Fetch> fetches;
    {
        /* Who launches a set may begin some. */
        Lock lock(mutex());
        nobody_helps_.wait(lock, [this]() PTASK_LOCKED { return !helping_; });
        replayer_->close(lock);
        fetches = std::exchange(fetches_, {});
    }
    /* Until nothing uses their blocks. */
    for (const Fetch &fetch : fetches)
        settle(*fetch.marker);
    {
        Guard lock(mutex());
        for (const Fetch &fetch : fetches)
            if (fetch.channel)
                all_is_here(*fetch.channel);
        end_outer();
    }
    /* Waits for what was given to them, so that nothing uses the blocks that go. */
    graph_devices_.close();
}

bool Scheduler::started() const
{
    Guard lock(mutex());
    return started_;
}

bool Scheduler::stopping() const
{
    Guard lock(mutex());
    return stopping_;
}

void Scheduler::throw_if_failed() const
{
    if (failure_.empty())
        return;
    if (!cause_)
        throw Failure(failure_);
    try {
        std::rethrow_exception(cause_);
    } catch (...) {
        std::throw_with_nested(Failure(failure_));
    }
}

void Scheduler::wake_thread()
{
    if (sleep_ != Sleep::none)
        wanted_.notify_one();
}

void Scheduler::wake_everybody()
{
    wake_thread();
    drained_.notify_all();
    if (!failure_.empty())
        return end_outer();
    for (Channel *channel : outer_)
        channel->wake();
}

/* Nothing comes there any more. */
void Scheduler::end_outer()
{
    for (Channel *channel : outer_) {
        channel->over = true;
        channel->wake();
    }
}

PortState Scheduler::state(const PortImpl &port) const
{
    Guard lock(mutex());
    Channel *const taken[] = {port.from_ ? port.from_ : port.loop_};
    const Depth depth = port.takes() && *taken ? fullest(taken) : fullest(port.to_);
    return {port.takes() ? has_input(port) : !has_room(port), depth.blocks, depth.capacity};
}

Depth Scheduler::fullest(std::span<Channel *const> channels)
{
    Depth found;
    for (const Channel *channel : channels) {
        const Depth one = {channel->tokens.size(), channel->capacity};
        if (!found.capacity || one.blocks + found.capacity > found.blocks + one.capacity)
            found = one;
    }
    return found;
}

Depth Scheduler::depth(std::span<Channel *const> channels) const
{
    Guard lock(mutex());
    return fullest(channels);
}

State Scheduler::state(const TaskImpl &task) const
{
    Guard lock(mutex());
    replayer_->poll();
    if (!over_ && (task.running_ || Replayer::is_executing(task)))
        return State::executing;
    if (may_begin() && (task.queued_ || Replayer::is_queued(task)))
        return State::queued;
    const bool has_run = task.completed_ || Replayer::completed(task);
    return has_run && !has_part_of_a_run(task) ? State::completed : State::waiting;
}

std::uint64_t Scheduler::count(const TaskImpl &task, std::uint64_t TaskImpl::*counter) const
{
    Guard lock(mutex());
    replayer_->poll();
    return task.*counter + (counter == &TaskImpl::completed_ ? Replayer::completed(task) : 0);
}

std::uint64_t Scheduler::lowered(const TaskImpl &task) const
{
    Guard lock(mutex());
    replayer_->poll();
    return Replayer::completed(task);
}

void Scheduler::set_priority(TaskImpl &task, int TaskImpl::*which, int priority)
{
    Guard lock(mutex());
    now_.passes();
    task.*which = priority;
    replayer_->priorities_changed(task);
}

std::string Scheduler::timeline(const std::vector<std::unique_ptr<TaskImpl>> &tasks) const
{
    Guard lock(mutex());
    return timeline_ ? timeline_->json(graph_devices_, tasks) : std::string();
}

std::vector<DeviceCounters> Scheduler::counters() const
{
    Guard lock(mutex());
    std::vector<DeviceCounters> counters;
    replayer_->poll();
    for (const auto &graph_device : graph_devices_.all)
        counters.push_back(graph_device->counts);
    return counters;
}

Run &Scheduler::new_run(TaskImpl &task)
{
    if (spare_.empty())
        spare_.push_back(runs_.emplace_back(std::make_unique<Run>()).get());
    Run &run = *spare_.back();
    spare_.pop_back();
    run.begin(task, task.ports_.size());
    return run;
}

void Scheduler::dispatch(Lock &lock, TaskImpl &task)
{
    Run &run = new_run(task);
    const Clock::time_point began = now_.get();
    task.running_++;
    running_++;
    for (const auto &port : task.ports_) {
        for (Channel *channel : port->to_)
            channel->promised++;
        if (port->takes())
            take_input(run, *port);
    }
    run.skipped = Launch::is_skipped(run);
    const bool odd = run.absent || run.signals.end_of_stream || run.signals.error;
    if (run.absent || run.skipped) {
        Launch::fill_skipped(run);
        task.skipped_++;
        run.late = run.done = true;
        task.undelivered_.push_back(&run);
        flush(task);
    } else {
        launch(lock, run);
    }
    if (task.replayed_)
        replayer_->ran(task, Clock::now() - began, odd);
    look_at(task);
}

void Scheduler::attempt(Lock &lock, TaskImpl &task)
{
    task.queued_ = false;
    if (replayer_->attempt(lock, task) || !can_run(task))
        return;
    if (!graph_devices_.hold(task)) {
        task.queued_ = true;
        put_off_.push_back(&task);
        return;
    }
    try {
        dispatch(lock, task);
    } catch (const std::exception &error) {
        fail(task, error.what());
    }
    graph_devices_.let_go(task);
}

/* There is a turn for some that had none. */
void Scheduler::take_up()
{
    Lock lock(mutex());
    now_.passes();
    for (TaskImpl *task : std::exchange(put_off_, {})) {
        task->queued_ = false;
        look_at(*task);
    }
    hand_over();
}

/* Where its outputs go: in a large graph that is in no cache, and can come to be there while the driver works. */
void Scheduler::fetch_ahead(const TaskImpl &task)
{
    for (const auto &port : task.ports_)
        for (const Channel *channel : port->to_) {
            __builtin_prefetch(&channel->tokens);
            __builtin_prefetch(reinterpret_cast<const char *>(channel) + 64);
            if (const PortImpl *next = channel->destination) {
                __builtin_prefetch(next);
                __builtin_prefetch(&next->task_);
            }
        }
}

void Scheduler::launch(Lock &lock, Run &run)
{
    TaskImpl &task = *run.task;
    const std::size_t which = graph_devices_.choose(run);
    const device::Code &code = *task.codes_[which];
    device::Device &device = *task.graph_devices_[which]->device;
    Lane &lane = graph_devices_.choose_lane(run, *task.graph_devices_[which]);

    /* Also if it fails: copies of its blocks may be under way. Nobody else looks at lanes. */
    run.began = now_.get();
    run.timed = timeline_ != nullptr;
    run.late = task.again_ || !device.orders_others();
    graph_devices_.begin(run, lane);
    if (run.late)
        task.undelivered_.push_back(&run);
    awaited_ += awaits(run);
    fetch_ahead(task);
    try {
        {
            Unlocked unlocked(lock, mutex());
            NvtxRange range(task.name_);
            device::Exempt exempt(lane.graph_device->turns != nullptr);
            Constants *constants = task.constants_.empty() ? nullptr : task.constants_[which].get();
            Launch(run, device, *lane.queue, constants).start(code);
        }
        if (!run.late)
            deliver(run);
    } catch (const std::exception &error) {
        fail({&task}, *lane.graph_device, error);
    }
    if (failure_.empty())
        look_into(lane);
}

void Scheduler::fail(const TaskImpl &task, const std::string &what)
{
    fail("task " + task.name_ + ": " + what);
}

void Scheduler::fail(std::vector<const TaskImpl *> tasks, const GraphDevice &graph_device, const std::exception &error)
{
    constexpr std::size_t most_named = 8;
    std::string names;
    auto add = [&](const TaskImpl *one) {
        if (std::find(tasks.begin(), tasks.end(), one) == tasks.end())
            tasks.push_back(one);
    };
    if (dynamic_cast<const device::Fault *>(&error)) {
        for (const auto &lane : graph_device.lanes)
            for (std::size_t i = 0; i < lane->runs.size(); i++)
                add(lane->runs[i]->task);
        replayer_->for_tasks_at(graph_device, add);
    }
    if (tasks.size() == 1)
        return fail(*tasks.front(), error.what());
    for (std::size_t i = 0; i < std::min(tasks.size(), most_named); i++)
        names += (i ? ", " : "") + tasks[i]->name();
    if (tasks.size() > most_named)
        names += " and " + std::to_string(tasks.size() - most_named) + " more";
    fail("one of the tasks " + names + ": " + error.what());
}

void Scheduler::fail(const std::string &what)
{
    failure_ = what;
    cause_ = cause_of(std::current_exception());
    wake_everybody();
}

void Scheduler::work_for(const device::RequesterPtr &requester, bool pulls)
{
    Guard lock(mutex());
    if (pulls && !requester_pulls_ && device::is_alive(requester_))
        return;
    requester_ = requester;
    requester_pulls_ = pulls;
    work_for_requester();
}

void Scheduler::work_for_requester()
{
    for (const auto &graph_device : graph_devices_.all)
        if (graph_device->turns && !stopping_)
            graph_device->turns->act_for(requester_);
}

} // namespace ptsched::ptask
