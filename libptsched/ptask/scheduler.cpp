// SPDX-License-Identifier: MIT
#include "scheduler.hpp"

#include "launch.hpp"

#include <algorithm>
#include <utility>

namespace ptsched::ptask {

namespace {

constexpr unsigned gpu_lanes = 4, host_lanes = 2;
/* Given to a queue and not ended: enough to keep a device busy, and few enough to choose among the rest. */
constexpr std::size_t most_in_lane = 32;
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
    bool needs_host = std::any_of(tasks.begin(), tasks.end(), [](const auto &task) { return task->on_host_; });
    bool needs_gpu = std::any_of(tasks.begin(), tasks.end(), [](const auto &task) { return !task->on_host_; });

    if (needs_host)
        add_lanes(device::host(), host_lanes);
    if (needs_gpu)
        for (device::Device *gpu : device::gpus())
            add_lanes(*gpu, gpu_lanes);
    Lock lock(mutex_);
    for (const auto &task : tasks)
        for (const auto &port : task->ports_) {
            if (port->options_.kind == PortKind::sticky)
                port->kept_ = port->options_.initial;
            else if (port->takes() && port->from_ && port->options_.initial)
                put_into(*port->from_, {{port->options_.initial}});
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

void Scheduler::set_priority(Task &task, int priority)
{
    std::lock_guard lock(mutex_);
    task.priority_ = priority;
}

/* The device to which the least must be moved; there, the queue that writes an input, or the shortest. */
Scheduler::Lane &Scheduler::choose(const Run &run)
{
    const Task &task = *run.task;
    Lane *best = nullptr;
    std::pair<std::size_t, std::size_t> least;

    for (auto &lane : lanes_) {
        if (std::find(task.devices_.begin(), task.devices_.end(), lane->device) == task.devices_.end())
            continue;
        std::size_t bytes = 0;
        bool follows = false;
        for (const DatablockPtr &block : run.held) {
            if (!block)
                continue;
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
    Lane &lane = choose(run);
    auto which = std::find(task.devices_.begin(), task.devices_.end(), lane.device) - task.devices_.begin();
    const device::Code &code = *task.codes_[static_cast<std::size_t>(which)];

    /* Also if it fails: copies of its blocks may be under way. Nobody else looks at lanes. */
    lane.runs.push_back(&run);
    run.late = task.again_ || !lane.device->orders_others();
    if (run.late)
        task.undelivered_.push_back(&run);
    /* Drivers take their time. */
    lock.unlock();
    std::string problem;
    try {
        Launch(run, *lane.device, *lane.queue).start(code);
    } catch (const std::exception &error) {
        problem = error.what();
    }
    lock.lock();
    if (!problem.empty())
        fail(task, problem);
    else if (!run.late)
        deliver(run);
}

/* What a run has written is there. */
void Scheduler::ended(Run &run)
{
    run.done = true;
    if (run.late)
        flush(*run.task);
    else
        complete(run);
}

/* Runs give on what they have in the order in which they began. */
void Scheduler::flush(Task &task)
{
    while (!task.undelivered_.empty() && task.undelivered_.front()->done) {
        Run &run = *task.undelivered_.pop_front();
        deliver(run);
        complete(run);
    }
}

void Scheduler::complete(Run &run)
{
    Task &task = *run.task;
    task.running_--;
    task.completed_++;
    running_--;
    run.end();
    spare_.push_back(&run);
    look_at(task);
}

/* Takes note of what has ended; false if nothing had. */
bool Scheduler::poll()
{
    bool any = poll_fetches();

    unpolled_ = 0;
    for (auto &lane : lanes_)
        any = poll(*lane) || any;
    return any;
}

bool Scheduler::poll(Lane &lane)
{
    bool any = false;
    while (!lane.runs.empty() && failure_.empty()) {
        Run &run = *lane.runs.front();
        try {
            if (!run.marker->reached())
                break;
            lane.runs.pop_front();
            any = true;
            /* Whether a loop goes on is read on the host. */
            const Port *again = run.task->again_;
            if (device::MarkerPtr marker = again ? fetch(*run.held[again->index_]) : nullptr)
                fetches_.push_back({std::move(marker), &run, nullptr});
            else
                ended(run);
        } catch (const std::exception &error) {
            fail(*run.task, error.what());
        }
    }
    return any;
}

bool Scheduler::poll_fetches()
{
    bool any = false;
    for (std::size_t i = 0; i < fetches_.size() && failure_.empty();) {
        auto [marker, run, channel] = fetches_[i];
        Task &task = run ? *run->task : channel->destination->task_;
        try {
            if (!marker->reached()) {
                i++;
                continue;
            }
            fetches_.erase(fetches_.begin() + static_cast<std::ptrdiff_t>(i));
            any = true;
            if (run) {
                ended(*run);
                continue;
            }
            /* They come in the order of the channel. */
            for (std::size_t k = 0; k < channel->tokens.size(); k++)
                if (!std::exchange(channel->tokens[k].here, true))
                    break;
            look_at(task);
        } catch (const std::exception &error) {
            fail(task, error.what());
        }
    }
    return any;
}

void Scheduler::fail(const Task &task, const std::string &what)
{
    failure_ = "task " + task.name_ + ": " + what;
    wake_everybody();
}

/* Null if none is due, or all queues are full. */
Task *Scheduler::next_due()
{
    bool full =
        std::all_of(lanes_.begin(), lanes_.end(), [](const auto &lane) { return lane->runs.size() >= most_in_lane; });
    if (stopping_ || full || due_.empty())
        return nullptr;
    Task *task = due_.top().task;
    due_.pop();
    return task;
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
            sleep([&] { wanted_.wait(lock, [&] { return stopping_ || !due_.empty() || !fetches_.empty(); }); });
        }
    }
    wake_everybody();
}

} // namespace ptsched::ptask
