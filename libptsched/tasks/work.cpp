// SPDX-License-Identifier: MIT
/* What the threads of a runtime do, and who waits: find ready tasks, look after GPUs, sleep. */
#include "libptsched/tasks/here.hpp"

#include <algorithm>
#include <utility>

namespace ptsched::tasks {

namespace {

/* So many threads look for something to do at a time, so often until they sleep; more often with work on GPUs. */
constexpr unsigned most_searching = 2, looks = 50, looks_at_gpus = 5000;
/* Between looks, each of which takes what is looked at from the processor of who makes tasks. */
constexpr unsigned pauses = 16;
/* In cycles: a task that is short, for how long who has run some lets others gather, and what was a moment ago. */
constexpr std::uint64_t short_task = 2000, gathering = 8000, recent = 16000, recently_served = 6000;
/* Who has taken so many at once need not wait for more. */
constexpr std::size_t enough = ReadyQueue::most_at_once / 2;
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
    if (trace_)
        trace_->name_this_thread("helper");
    const auto stops = [this] { return stops_.load(std::memory_order_acquire); };
    while (!stops()) {
        helper_.wait_until(no_limit(), [&] { return stops() || gpu_->is_busy(); });
        while (!stops() && gpu_->is_busy()) {
            serve();
            std::this_thread::sleep_for(rhythm);
        }
    }
}

/* Who has just done it has what it takes in his processor's caches: others do it if he does not come back. */
bool CoreImpl::serve()
{
    if (!gpu_ || !gpu_->is_busy())
        return false;
    const Lane *const server = server_.load(std::memory_order_relaxed), *const mine = &lane();
    if (server != mine && __builtin_ia32_rdtsc() - served_.load(std::memory_order_relaxed) < recently_served)
        return false;
    server_.store(mine, std::memory_order_relaxed);
    serves_.store(true, std::memory_order_relaxed);
    const bool some = gpu_->serve();
    serves_.store(false, std::memory_order_relaxed);
    served_.store(__builtin_ia32_rdtsc(), std::memory_order_relaxed);
    return some;
}

bool CoreImpl::work_until(const Condition &done, Clock::time_point until)
{
    Lane &mine = lane();
    for (unsigned rests = 0;;) {
        if (done())
            return true;
        const bool served = serve();
        if (Task *task = next(mine)) {
            /* Who was woken has the next one woken, if there is something for him. */
            if (rests && has_ready())
                wake_another();
            run(*task);
            mine.ran_since_steal++;
            mine.ran_until = __builtin_ia32_rdtsc();
            rests = 0;
        } else if (served || search(done)) {
            rests = 0;
        } else if (Clock::now() >= until) {
            return false;
        } else {
            rest(done, until, rests++);
        }
    }
}

/*
 * Looks a while for something to do; whether there may be. Few do at a time: all of them would get in the way of the
 * one that makes tasks.
 */
bool CoreImpl::search(const Condition &done)
{
    if (searching_.fetch_add(1, std::memory_order_relaxed) >= most_searching) {
        searching_.fetch_sub(1, std::memory_order_relaxed);
        return false;
    }
    bool found = false;
    for (unsigned look = 0; !found && look < (gpu_ && gpu_->is_busy() ? looks_at_gpus : looks); look++) {
        note_search();
        for (unsigned i = 0; i < pauses; i++)
            __builtin_ia32_pause();
        found = has_ready() || done() || serve();
    }
    searching_.fetch_sub(1, std::memory_order_relaxed);
    return found;
}

/* For wake_worker(), of another processor: so it is not written each time. */
void CoreImpl::note_search()
{
    const std::uint64_t now = __builtin_ia32_rdtsc();
    if (now - last_search_.load(std::memory_order_relaxed) > recent / 4)
        last_search_.store(now, std::memory_order_relaxed);
}

/* Whether tasks that he ran of late take no longer than to be taken: then he takes several at once. */
bool CoreImpl::takes_short_ones(Lane &mine)
{
    const unsigned ran = std::exchange(mine.ran_since_steal, 0);
    return ran && (mine.ran_until - mine.stolen_at) / ran < short_task;
}

/* He waits until there are some. False if others do already. */
bool CoreImpl::let_gather(Lane &mine)
{
    const bool may = gathering_.fetch_add(1, std::memory_order_relaxed) < most_searching;
    while (may && __builtin_ia32_rdtsc() - mine.ran_until < gathering)
        __builtin_ia32_pause();
    gathering_.fetch_sub(1, std::memory_order_relaxed);
    return may;
}

/*
 * There is something to do. To wake somebody takes longer than many a task: where somebody has just looked for one, he
 * is likely to come back. If he does not, one of those that sleep does so for a moment only.
 */
void CoreImpl::wake_worker()
{
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if ((sleepers_.any_asleep() || waiters_.any_asleep()) &&
        __builtin_ia32_rdtsc() - last_search_.load(std::memory_order_relaxed) >= recent)
        wake_another();
}

/* One at a time. */
void CoreImpl::wake_another()
{
    if (waking_.load(std::memory_order_relaxed) || waking_.exchange(true, std::memory_order_relaxed))
        return;
    if (!sleepers_.wake_one() && !waiters_.wake_one())
        waking_.store(false, std::memory_order_relaxed);
}

/* Something has ended; who is busy tells them now and then, and when he is not any more. */
void CoreImpl::tell_waiters()
{
    if (!waiters_.any_asleep())
        return;
    const std::uint64_t now = __builtin_ia32_rdtsc();
    if (now - told_.load(std::memory_order_relaxed) < recent)
        return;
    told_.store(now, std::memory_order_relaxed);
    waiters_.wake();
}

/* Of those that have nothing to do, one looks after the GPUs and what nobody was woken for; who waits looks himself. */
void CoreImpl::rest(const Condition &done, Clock::time_point until, unsigned rests)
{
    Lane &mine = lane();
    const bool waits = Here::get().core != this || Here::get().task;
    if (waits)
        check_progress();
    const bool guards = (waits || !all_ended()) && !guards_.exchange(true, std::memory_order_acq_rel);
    if (guards || waits)
        until = std::min(until, Clock::now() + std::min<Clock::duration>(first_nap * (rests + 1), longest_nap));
    count(mine, &Lane::sleeps);
    if (!others_look())
        last_search_.store(0, std::memory_order_relaxed);
    if (!waits)
        waiters_.wake();
    (waits ? waiters_ : sleepers_).sleep_until(until, [&] {
        waking_.store(false, std::memory_order_relaxed);
        return (has_ready() && !others_look()) || done() ||
               (!guards && gpu_ && gpu_->is_busy() && !guards_.load(std::memory_order_relaxed));
    });
    if (guards)
        guards_.store(false, std::memory_order_release);
}

/* As many as may. */
bool CoreImpl::others_look() const
{
    return searching_.load(std::memory_order_relaxed) + gathering_.load(std::memory_order_relaxed) >= most_searching;
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
    const bool short_ones = takes_short_ones(mine);
    if (short_ones && mine.stolen < enough && !let_gather(mine))
        return nullptr;
    Task *tasks[ReadyQueue::most_at_once];
    for (unsigned i = 0; i < lane_count_; i++) {
        Lane &victim = lanes_[(mine.next_victim + i) % lane_count_];
        if (&victim == &mine || victim.ready.empty())
            continue;
        const std::size_t count_of = victim.ready.steal(tasks, short_ones);
        if (!count_of)
            continue;
        mine.next_victim = (mine.next_victim + i) % lane_count_;
        mine.stolen = count_of;
        note_search();
        if (count_of == ReadyQueue::most_at_once)
            wake_another();
        mine.stolen_at = __builtin_ia32_rdtsc();
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
