// SPDX-License-Identifier: MIT
/* What the threads of a runtime do, and who waits: find ready tasks, look after GPUs, sleep. */
#include "libptsched/tasks/here.hpp"

#include <algorithm>

namespace ptsched::tasks {

namespace {

/* Looks in vain until a thread sleeps; with work on GPUs, more of them. */
constexpr unsigned looks = 200, looks_at_gpus = 20000;
/* While GPUs have work, or others end what is waited for: between looks, at first and at most. */
constexpr std::chrono::microseconds first_nap{20}, longest_nap{1000};
/* Nothing has ended for so long: then somebody looks whether anything can. */
constexpr std::chrono::milliseconds patience{200};
/* Between looks of the thread that helps out. */
constexpr std::chrono::microseconds rhythm{300};

} // namespace

void CoreImpl::work()
{
    work_until([this] { return stops_.load(std::memory_order_acquire); }, no_limit());
}

/* While workers are at long functions, GPUs have somebody who serves them. */
void CoreImpl::help()
{
    Here::get() = {this, &lanes_[0], nullptr};
    const auto stops = [this] { return stops_.load(std::memory_order_acquire); };
    while (!stops()) {
        helper_.wait_until(no_limit(), [&] { return stops() || gpu_->is_busy(); });
        while (!stops() && gpu_->is_busy()) {
            if (!polls_.load(std::memory_order_relaxed))
                gpu_->serve();
            std::this_thread::sleep_for(rhythm);
        }
    }
}

bool CoreImpl::serve()
{
    return gpu_ && gpu_->is_busy() && gpu_->serve();
}

bool CoreImpl::work_until(const Condition &done, Clock::time_point until)
{
    unsigned idle = 0, rests = 0;
    Lane &mine = lane();
    for (;;) {
        if (done())
            return true;
        const bool served = serve();
        Task *task = next(mine);
        if (task)
            run(*task);
        if (served || task) {
            idle = rests = 0;
            continue;
        }
        const bool polls = gpu_ && gpu_->is_busy();
        if (++idle < (polls ? looks_at_gpus : looks)) {
            __builtin_ia32_pause();
            continue;
        }
        if (Clock::now() >= until)
            return false;
        rest(done, until, rests++);
        idle = looks / 2;
    }
}

/* Of those that have nothing to do, one looks after the GPUs; who waits looks now and then himself. */
void CoreImpl::rest(const Condition &done, Clock::time_point until, unsigned rests)
{
    Lane &mine = lane();
    const bool waits = Here::get().core != this || Here::get().task;
    const bool polls = gpu_ && gpu_->is_busy() && !polls_.exchange(true, std::memory_order_acq_rel);
    if (waits)
        check_progress();
    if (polls || waits)
        until = std::min(until, Clock::now() + std::min<Clock::duration>(first_nap * (rests + 1), longest_nap));
    count(mine, &Lane::sleeps);
    if (waits)
        waiters_asleep_.fetch_add(1, std::memory_order_seq_cst);
    sleepers_.wait_until(until, [&] {
        return has_ready() || done() || (!polls && gpu_ && gpu_->is_busy() && !polls_.load(std::memory_order_relaxed));
    });
    if (waits)
        waiters_asleep_.fetch_sub(1, std::memory_order_relaxed);
    if (polls)
        polls_.store(false, std::memory_order_release);
}

bool CoreImpl::has_ready() const
{
    if (urgent_count_.load(std::memory_order_relaxed))
        return true;
    return std::any_of(lanes_.get(), lanes_.get() + lane_count_, [](const Lane &lane) { return !lane.ready.empty(); });
}

Task *CoreImpl::next(Lane &mine)
{
    if (urgent_count_.load(std::memory_order_relaxed)) {
        Guard lock(urgent_mutex_);
        if (!urgent_.empty()) {
            Task *task = urgent_.top().task;
            urgent_.pop();
            urgent_count_.fetch_sub(1, std::memory_order_relaxed);
            return task;
        }
    }
    Task *task = mine.ready.pop();
    return task ? task : steal(mine);
}

Task *CoreImpl::steal(Lane &mine)
{
    Task *tasks[ReadyQueue::most_at_once];
    for (unsigned i = 0; i < lane_count_; i++) {
        Lane &victim = lanes_[(mine.next_victim + i) % lane_count_];
        if (&victim == &mine || victim.ready.empty())
            continue;
        const std::size_t count_of = victim.ready.steal(tasks);
        if (!count_of)
            continue;
        mine.next_victim = (mine.next_victim + i) % lane_count_;
        for (std::size_t j = count_of; j-- > 1;)
            mine.ready.push(*tasks[j]);
        count(mine, &Lane::steals);
        return tasks[0];
    }
    return nullptr;
}

/* Throws Error if what is waited for cannot come: nothing runs but what waits, and nothing is ready or on a GPU. */
void CoreImpl::check_progress()
{
    Guard lock(progress_mutex_);
    const std::uint64_t ended = sum(&Lane::ended) + sum(&Lane::ran);
    const auto now = Clock::now();
    if (ended != last_ended_) {
        last_ended_ = ended;
        progress_at_ = now;
    }
    if (now - progress_at_ < patience || holds_.load(std::memory_order_acquire) || has_ready() ||
        (gpu_ && gpu_->is_busy()))
        return;
    unsigned running = 0, waiting = 0;
    for (unsigned i = 0; i < lane_count_; i++) {
        running += lanes_[i].running.load(std::memory_order_acquire);
        waiting += lanes_[i].waiting.load(std::memory_order_acquire);
    }
    if (running == waiting && ended == sum(&Lane::ended) + sum(&Lane::ran))
        throw Error("tasks: nothing can go on: tasks wait for each other");
}

} // namespace ptsched::tasks
