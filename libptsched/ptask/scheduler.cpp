// SPDX-License-Identifier: MIT
#include "scheduler.hpp"

#include "launch.hpp"

#include <algorithm>
#include <utility>

namespace ptsched::ptask {

namespace {

constexpr unsigned gpu_lanes = 4, host_lanes = 2;
/* Runs that are begun before it is looked for what ended, as long as there are some: a look takes a driver's time. */
constexpr unsigned runs_for_a_look = 8;
/* Between two looks at work that runs: the longer, the longer nothing has ended. */
constexpr std::chrono::microseconds shortest_nap{20}, longest_nap{500};

/* Until nothing before it uses its blocks, however that ends. */
void wait_for(device::Marker &marker)
{
    try {
        marker.wait();
    } catch (const Error &) {
    }
}

} // namespace

Scheduler::Scheduler(const GraphOptions &options)
    : due_{{options.mode, options.weights}, {options.mode, options.weights}}, places_(options),
      weights_(options.weights), timeline_(options.timeline ? std::make_unique<Timeline>() : nullptr)
{
}

Scheduler::~Scheduler()
{
    stop();
}

void Scheduler::start(const std::vector<std::unique_ptr<Task>> &tasks)
{
    for (const auto &task : tasks)
        for (device::Device *device : task->devices_)
            if (places_.of({device}).empty())
                places_.add(*device, device == &device::host() ? host_lanes : gpu_lanes);
    Lock lock(mutex_);
    for (const auto &task : tasks) {
        task->places_ = places_.of(task->devices_);
        for (const auto &port : task->ports_) {
            if (port->options_.kind == PortKind::sticky)
                port->kept_ = port->options_.initial;
            else if (port->takes() && port->from_ && port->options_.initial)
                put_into(*port->from_, {{port->options_.initial}});
        }
    }
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
        wake_everybody();
    }
    if (thread_.joinable())
        thread_.join();
    for (const Fetch &fetch : fetches_)
        wait_for(*fetch.marker);
    fetches_.clear();
    /* Waits for what was given to them, so that nothing uses the blocks that go. */
    places_.close();
}

bool Scheduler::started() const
{
    std::lock_guard lock(mutex_);
    return started_;
}

void Scheduler::throw_if_failed() const
{
    if (!failure_.empty())
        throw Failure(failure_);
}

void Scheduler::wake_thread()
{
    if (asleep_)
        wanted_.notify_one();
}

void Scheduler::wake_everybody()
{
    wake_thread();
    for (Channel *channel : outer_)
        channel->wake();
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

std::uint64_t Scheduler::count(const Task &task, std::uint64_t Task::*counter) const
{
    std::lock_guard lock(mutex_);
    return task.*counter;
}

void Scheduler::set_priority(Task &task, int Task::*which, int priority)
{
    std::lock_guard lock(mutex_);
    task.*which = priority;
}

std::string Scheduler::timeline(const std::vector<std::unique_ptr<Task>> &tasks) const
{
    std::lock_guard lock(mutex_);
    return timeline_ ? timeline_->json(places_, tasks) : std::string();
}

std::vector<DeviceCounters> Scheduler::counters() const
{
    std::lock_guard lock(mutex_);
    std::vector<DeviceCounters> counters;
    for (const auto &place : places_.all)
        counters.push_back(place->counts);
    return counters;
}

Run &Scheduler::new_run(Task &task)
{
    if (spare_.empty())
        spare_.push_back(runs_.emplace_back(std::make_unique<Run>()).get());
    Run &run = *spare_.back();
    spare_.pop_back();
    run.begin(task, task.ports_.size());
    return run;
}

void Scheduler::dispatch(Lock &lock, Task &task)
{
    Run &run = new_run(task);
    task.running_++;
    running_++;
    for (const auto &port : task.ports_) {
        for (Channel *channel : port->to_)
            channel->promised++;
        if (port->takes())
            take_input(run, *port);
    }
    run.skipped = Launch::is_skipped(run);
    if (run.absent || run.skipped) {
        Launch::fill_skipped(run);
        task.skipped_++;
        run.late = run.done = true;
        task.undelivered_.push_back(&run);
        flush(task);
    } else {
        launch(lock, run);
    }
    look_at(task);
}

void Scheduler::attempt(Lock &lock, Task &task)
{
    task.queued_ = false;
    if (!can_run(task))
        return;
    try {
        dispatch(lock, task);
    } catch (const std::exception &error) {
        fail(task, error.what());
    }
}

void Scheduler::launch(Lock &lock, Run &run)
{
    Task &task = *run.task;
    const std::size_t which = places_.choose(run);
    const device::Code &code = *task.codes_[which];
    device::Device &device = *task.places_[which]->device;
    Lane &lane = places_.choose_lane(run, *task.places_[which]);

    /* Also if it fails: copies of its blocks may be under way. Nobody else looks at lanes. */
    run.began = now_;
    run.timed = timeline_ != nullptr;
    places_.begin(run, lane);
    run.late = task.again_ || !device.orders_others();
    if (run.late)
        task.undelivered_.push_back(&run);
    /* Drivers take their time. */
    lock.unlock();
    std::string problem;
    try {
        Launch(run, device, *lane.queue).start(code);
    } catch (const std::exception &error) {
        problem = error.what();
    }
    lock.lock();
    if (!problem.empty())
        fail(task, problem);
    else if (!run.late)
        deliver(run);
}

void Scheduler::fail(const Task &task, const std::string &what)
{
    failure_ = "task " + task.name_ + ": " + what;
    wake_everybody();
}

/* Null if none is due, or all queues for it are full. */
Task *Scheduler::next_due()
{
    if (stopping_ || !any_due())
        return nullptr;
    now_ = Clock::now();
    for (bool host : {true, false})
        if (Ready &due = due_[!host]; !due.empty() && !places_.full(host))
            return &due.pop(now_);
    return nullptr;
}

void Scheduler::work()
{
    Lock lock(mutex_);
    auto nap = shortest_nap;
    auto sleep = [&](auto wait) {
        asleep_ = true;
        wait();
        asleep_ = false;
    };

    device::adopt_thread();
    while (failure_.empty() && !(stopping_ && !running_)) {
        if (Task *task = next_due()) {
            attempt(lock, *task);
            if (++unpolled_ >= runs_for_a_look)
                poll();
        } else if (poll()) {
            nap = shortest_nap;
        } else if (running_ || !fetches_.empty()) {
            sleep([&] { wanted_.wait_for(lock, nap); });
            nap = std::min(2 * nap, longest_nap);
        } else {
            sleep([&] { wanted_.wait(lock, [&] { return stopping_ || any_due() || !fetches_.empty(); }); });
        }
    }
    wake_everybody();
}

} // namespace ptsched::ptask
