// SPDX-License-Identifier: MIT
/*
 * Who does a graph's work, one at a time: whoever pushes or waits, since it is awake, and the graph's thread otherwise.
 */
#include "libptsched/ptask/graph/readiness.hpp"
#include "libptsched/ptask/replay/replayer.hpp"
#include "libptsched/ptask/run/scheduler.hpp"
#include "libptsched/ptask/time/naps.hpp"

#include <algorithm>
#include <utility>

namespace ptsched::ptask {

namespace {

/* Runs that one who pushes begins for all: more are the thread's, which has the time. */
constexpr unsigned most_helped = 64;
/* Runs that are begun before it is looked for those that others wait for. */
constexpr unsigned runs_for_a_look = 8;
/* After which it is looked for all that has ended, even if nobody waits for it. */
constexpr std::chrono::microseconds time_for_a_look{1000};
/* Between two looks at subgraphs that GPUs are given as one, whose ends nobody waits for. */
constexpr std::chrono::milliseconds watch_nap{5};
/* A function of the host that has taken no longer so far may run in the thread that waits for what it makes. */
constexpr double brief_seconds = 100e-6;
constexpr std::uint64_t brief_runs = 4;

void yield(Lock &lock, Mutex &mutex) PTSCHED_REQUIRES(mutex)
{
    Unlocked unlocked(lock, mutex);
    std::this_thread::yield();
}

} // namespace

/* Null if none is due, or all queues for it are full. */
TaskImpl *Scheduler::next_due()
{
    if (!may_begin()) {
        graph_devices_.rest();
        return nullptr;
    }
    for (bool host : {true, false})
        if (Arbiter &due = due_[!host]; !due.empty() && !graph_devices_.full(host)) {
            TaskImpl &task = due.pop(now_.get());
            if (!host && due.empty())
                graph_devices_.rest();
            return &task;
        }
    return nullptr;
}

/* Does something that can be done; false if there is nothing. */
bool Scheduler::step(Lock &lock)
{
    if (std::exchange(host_ended_, false) && poll_host())
        return true;
    const bool went = replayer_->go(lock);
    TaskImpl *task = next_due();
    if (!task)
        return poll() || went;
    attempt(lock, *task);
    if ((++unpolled_ >= runs_for_a_look && is_awaited()) || now_.look() - polled_ > time_for_a_look)
        poll();
    return true;
}

/* Whether somebody waits for something to end, without which nothing else begins. */
bool Scheduler::is_awaited() const
{
    return awaited_ || !fetches_.empty() || replayer_->is_awaited();
}

/* Nothing goes on, and nothing can be begun. */
bool Scheduler::is_idle() const
{
    return !running_ && !any_due() && !is_awaited();
}

/* Somebody drives as long as this lives. */
struct Scheduler::Driving {
    explicit Driving(Scheduler &scheduler) PTASK_LOCKED : scheduler(scheduler) { scheduler.driven_ = true; }
    ~Driving() PTASK_LOCKED { scheduler.driven_ = false; }
    Driving(const Driving &) = delete;
    Driving &operator=(const Driving &) = delete;

    Scheduler &scheduler;
    device::BorrowedThread borrowed;
};

/* Begins what has become possible, unless who calls it is in a hurry; what is left is the thread's. */
void Scheduler::advance(Lock &lock, bool in_a_hurry)
{
    if (!in_a_hurry && may_drive() && any_due()) {
        Driving driving(*this);
        helped_ = true;
        for (unsigned i = 0; i < most_helped && any_due() && failure_.empty() && step(lock); i++)
            ;
    }
    hand_over();
}

/* Called by the thread that the work had. Others can go on with what its queue has. */
void Scheduler::host_has_ended()
{
    Lock lock(mutex(), soon);
    host_ended_ = true;
    now_.passes();
    if (may_drive()) {
        Driving driving(*this);
        step(lock);
    }
    advance(lock, false);
}

/* What is left to do is the thread's. */
void Scheduler::hand_over()
{
    if (driven_)
        return;
    const bool due = any_due();
    if (sleep_ != Sleep::none && (due || host_ended_ || awaited_ || !fetches_.empty() || replayer_->waits_for_go() ||
                                  stopping_ || (sleep_ == Sleep::for_good && running_)))
        wake_thread();
    left_to_thread_ = left_to_thread_ || due;
}

void Scheduler::begin_to_watch()
{
    watched_ = now_.get();
    wake_thread();
}

/*
 * What comes next at @channel is what a brief function of the host makes, and nothing else goes on: who waits for it
 * runs it, rather than wake a thread by which to be woken. False if there is nothing to run.
 */
bool Scheduler::run_for(Lock &lock, const Channel &channel)
{
    if (running_ != 1 || driven_ || any_due() || is_awaited() || replayer_->is_busy() || !channel.source)
        return false;
    const TaskImpl &task = channel.source->task_;
    if (!task.running_ || !task.on_host_ || task.completed_ < brief_runs || task.run_time_.value() > brief_seconds)
        return false;
    for (const auto &lane : task.graph_devices_.front()->lanes)
        if (!lane->runs.empty()) {
            device::Queue &queue = *lane->queue;
            helping_++;
            bool any;
            {
                /* Others may make more lanes meanwhile. */
                Unlocked unlocked(lock, mutex());
                any = queue.help();
            }
            if (!--helping_)
                nobody_helps_.notify_all();
            return any;
        }
    return false;
}

/* One who waits for something at @channel does what can be done in the meantime. */
void Scheduler::help_or_rest(Lock &lock, Channel &channel, Naps &naps)
{
    bool any = false;
    if (may_drive()) {
        Driving driving(*this);
        now_.passes();
        any = step(lock);
    }
    if (any)
        naps.start_over();
    else if (is_idle())
        channel.changed.wait(lock);
    else if (naps.worth_a_yield()) /* who has run on the host comes for the lock, and wakes */
        yield(lock, mutex());
    else
        channel.changed.wait_for(lock, naps.next());
}

/*
 * Nothing runs, and nothing could without somebody who pushes. What waits for room between two tasks waits for the
 * second one: that has an input missing, or is looked at itself.
 */
bool Scheduler::is_drained() const
{
    auto is_held_up = [](const Channel *channel) PTASK_LOCKED { return channel->destination && !channel->has_room(); };
    auto may_go_on = [&](const auto &task) PTASK_LOCKED {
        return has_inputs(*task) && std::ranges::none_of(task->ports_, [&](const auto &port) {
                   return std::ranges::any_of(port->to_, is_held_up);
               });
    };
    return is_idle() && put_off_.empty() && !replayer_->is_busy() && !replayer_->waits_for_go() &&
           std::ranges::none_of(*tasks_, may_go_on);
}

bool Scheduler::drain(Timeout timeout)
{
    if (Calling::is_for(*this))
        throw Error("a function of a graph cannot drain the graph, which would wait for it");
    const Deadline deadline = deadline_of(timeout);
    Lock lock(mutex());
    if (!started_)
        throw Error("a graph is drained that was not run: run() comes first");
    device::HostPool::Blocked blocked;
    for (Naps naps; !is_drained();) {
        throw_if_failed();
        if (stopping_ || (deadline && now_.look() >= *deadline))
            return false;
        bool any = false;
        replayer_->hurry(lock);
        now_.passes();
        if (!deadline && may_drive()) {
            Driving driving(*this);
            any = step(lock);
        }
        if (any)
            naps.start_over();
        else
            drained_.wait_for(lock, naps.next());
    }
    throw_if_failed();
    return true;
}

/*
 * The thread's, when there is nothing to do. Who stops the graph has called it once, and by then the thread may have
 * been looking at what was on a device: it does not sleep for good any more.
 */
void Scheduler::rest(Lock &lock, Naps &naps)
{
    left_to_thread_ = left_to_thread_ && driven_;
    bool idle = !driven_ && is_idle() && !replayer_->waits_for_go() && !stopping_;
    if (idle && replayer_->is_watched()) {
        sleep_ = Sleep::nap;
        wanted_.wait_for(lock, Clock::stretch_until(Clock::now() + watch_nap));
    } else if (idle && naps.idle_for_long()) {
        sleep_ = Sleep::for_good;
        wanted_.wait(lock);
        naps.start_over();
    } else {
        sleep_ = Sleep::nap;
        if (wanted_.wait_for(lock, naps.next()) == std::cv_status::no_timeout)
            naps.start_over();
    }
    sleep_ = Sleep::none;
}

void Scheduler::work()
{
    Lock lock(mutex());
    Naps naps;

    device::adopt_thread();
    while (driven_ || (failure_.empty() && !(stopping_ && !running_ && !replayer_->is_busy()))) {
        now_.passes();
        if (replayer_->is_watched() && now_.get() - watched_ >= watch_nap) {
            watched_ = now_.get();
            replayer_->watch();
        }
        bool any = false;
        if (!driven_) {
            Driving driving(*this);
            /* Two that take turns at it are slower than one: the thread leaves it to who does so anyway. */
            if (!std::exchange(helped_, false) || left_to_thread_)
                any = step(lock);
        }
        if (any)
            naps.start_over();
        else
            rest(lock, naps);
    }
    wake_everybody();
    replayer_->settle(lock);
    {
        Unlocked unlocked(lock, mutex());
        graph_devices_.quit();
    }
    over_ = true;
}

} // namespace ptsched::ptask
