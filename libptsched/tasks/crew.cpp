// SPDX-License-Identifier: MIT
#include "libptsched/tasks/crew.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace ptsched::tasks {

namespace {

/*
 * So many threads look for something to do at a time where tasks are short, else all that have nothing to do; so often
 * until they sleep. The few do so more often with work on GPUs.
 */
constexpr unsigned few = 2, looks = 150, looks_at_gpus = 5000;
/* Between looks, each of which takes what is looked at from the processor of who makes tasks. */
constexpr unsigned pauses = 16;
/* In cycles: a task that is short, for how long who has run some lets others gather, and what was a moment ago. */
constexpr std::uint64_t short_task = 2000, gathering = 8000, recent = 16000;
/* For so many cycles tasks are taken for short after some were. */
constexpr std::uint64_t memory = 2000000;
/* Who has taken so many at once need not wait for more. */
constexpr std::size_t enough = ReadyQueue::most_at_once / 2;
/* While GPUs have work, or others end what is waited for: between looks, at first and at most. */
constexpr std::chrono::microseconds first_nap{20}, longest_nap{1000};

std::uint64_t cycles()
{
    return __builtin_ia32_rdtsc();
}

} // namespace

void Crew::enqueue(Lane &mine, Task &task, bool in_order)
{
    if (task.attributes.priority || in_order) {
        Guard lock(urgent_mutex_);
        urgent_.push({task.attributes.priority, urgent_order_++, &task});
        urgent_count_.fetch_add(1, std::memory_order_relaxed);
    } else {
        mine.ready.push(task);
    }
    wake_worker();
}

bool Crew::work_until(Lane &mine, bool waits, const Condition &done, Clock::time_point until)
{
    Pace pace;
    bool was_idle = false;
    for (unsigned rests = 0;;) {
        if (done())
            return true;
        const bool served = duty_.serve();
        if (run_next(mine, pace, waits, std::exchange(was_idle, false)) || served) {
            rests = 0;
            continue;
        }
        was_idle = true;
        if (search(waits, done))
            rests = 0;
        else if (Clock::now() >= until)
            return false;
        else
            rest(mine, waits, done, until, rests++);
    }
}

/* From before it is taken, it is known that somebody is at it. */
bool Crew::run_next(Lane &mine, Pace &pace, bool waits, bool was_idle)
{
    const Counted busy(mine.running);
    Task *task = next(mine, pace, waits);
    if (!task)
        return false;
    /* Who had nothing to do has the next one woken, if there is something for him. */
    if (was_idle && has_ready())
        wake_another();
    duty_.run(*task);
    pace.ran++;
    pace.ran_until = cycles();
    return true;
}

Task *Crew::next(Lane &mine, Pace &pace, bool waits)
{
    if (Task *left = take_left(waits))
        return left;
    while (Task *task = take_any(mine, pace)) {
        if (!waits || duty_.may_run(*task))
            return task;
        leave(*task);
    }
    return nullptr;
}

/* For others, who have to be told; for who waits for something else, when he looks again. */
void Crew::leave(Task &task)
{
    {
        Guard lock(left_mutex_);
        left_.push_back(&task);
        left_count_.fetch_add(1, std::memory_order_relaxed);
    }
    wake_another();
}

Task *Crew::take_left(bool waits)
{
    if (!left_count_.load(std::memory_order_relaxed))
        return nullptr;
    Guard lock(left_mutex_);
    const auto found =
        std::find_if(left_.begin(), left_.end(), [&](const Task *task) { return !waits || duty_.may_run(*task); });
    if (found == left_.end())
        return nullptr;
    Task *const task = *found;
    left_.erase(found);
    left_count_.fetch_sub(1, std::memory_order_relaxed);
    return task;
}

Task *Crew::take_any(Lane &mine, Pace &pace)
{
    if (Task *urgent = take_urgent(0))
        return urgent;
    if (Task *task = mine.ready.pop())
        return task;
    Task *const task = steal(mine, pace);
    return task ? task : take_urgent(std::numeric_limits<int>::min());
}

Task *Crew::take_urgent(int least)
{
    if (!urgent_count_.load(std::memory_order_relaxed))
        return nullptr;
    Guard lock(urgent_mutex_);
    if (urgent_.empty() || urgent_.top().priority < least)
        return nullptr;
    Task *task = urgent_.top().task;
    urgent_.pop();
    urgent_count_.fetch_sub(1, std::memory_order_relaxed);
    return task;
}

/* Who ran tasks that take no longer than to be taken takes all that there are, and lets some gather first. */
Task *Crew::steal(Lane &mine, Pace &pace)
{
    const unsigned ran = std::exchange(pace.ran, 0);
    const bool short_ones = ran && (pace.ran_until - pace.stolen_at) / ran < short_task;
    if (short_ones && !are_short())
        short_at_.store(cycles(), std::memory_order_relaxed);
    if (short_ones && pace.stolen < enough && !let_gather(pace))
        return nullptr;
    Task *tasks[ReadyQueue::most_at_once];
    for (unsigned i = 0; i < lanes_.size(); i++) {
        const unsigned from = (pace.next_victim + i) % lanes_.size();
        if (&lanes_[from] == &mine || lanes_[from].ready.empty())
            continue;
        const std::size_t count = lanes_[from].ready.steal(tasks, short_ones);
        if (!count)
            continue;
        pace.next_victim = from;
        pace.stolen = count;
        pace.stolen_at = cycles();
        note_search();
        if (count == ReadyQueue::most_at_once)
            wake_another();
        for (std::size_t j = count; j-- > 1;)
            mine.ready.push(*tasks[j]);
        lanes_.count(mine, &Lane::steals);
        return tasks[0];
    }
    return nullptr;
}

/* False if others wait already. */
bool Crew::let_gather(const Pace &pace)
{
    const bool may = gathering_.fetch_add(1, std::memory_order_relaxed) < few;
    while (may && cycles() - pace.ran_until < gathering)
        __builtin_ia32_pause();
    gathering_.fetch_sub(1, std::memory_order_relaxed);
    return may;
}

/*
 * Looks a while for something to do; whether there may be. Few do at a time: all of them would get in the way of the
 * one that makes tasks.
 */
bool Crew::search(bool waits, const Condition &done)
{
    const unsigned before = searching_.fetch_add(1, std::memory_order_relaxed);
    bool found = false;
    if (before < most_searching()) {
        const unsigned most_looks = before < few && duty_.has_to_serve() ? looks_at_gpus : looks;
        for (unsigned look = 0; !found && look < most_looks; look++) {
            note_search();
            for (unsigned i = 0; i < pauses; i++)
                __builtin_ia32_pause();
            found = has_ready_for(waits) || done() || duty_.serve();
        }
    }
    searching_.fetch_sub(1, std::memory_order_relaxed);
    return found;
}

bool Crew::are_short() const
{
    return cycles() - short_at_.load(std::memory_order_relaxed) < memory;
}

unsigned Crew::most_searching() const
{
    return are_short() ? few : lanes_.size();
}

/* For wake_worker(), of another processor: so it is not written each time. */
void Crew::note_search()
{
    const std::uint64_t now = cycles();
    if (now - last_search_.load(std::memory_order_relaxed) > recent / 4)
        last_search_.store(now, std::memory_order_relaxed);
}

/*
 * There is something to do. To wake somebody takes longer than many a task: where somebody has just looked for one, he
 * is likely to come back. If he does not, one of those that sleep does so for a moment only.
 */
void Crew::wake_worker()
{
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!sleepers_.any_asleep() && !waiters_.any_asleep())
        return;
    const bool somebody_comes = are_short() ? cycles() - last_search_.load(std::memory_order_relaxed) < recent
                                            : searching_.load(std::memory_order_relaxed) != 0;
    if (!somebody_comes)
        wake_another();
}

/* One at a time. */
void Crew::wake_another()
{
    if (waking_.load(std::memory_order_relaxed) || waking_.exchange(true, std::memory_order_relaxed))
        return;
    if (!sleepers_.wake_one() && !waiters_.wake_one())
        waking_.store(false, std::memory_order_relaxed);
}

void Crew::wake_all()
{
    sleepers_.wake();
    waiters_.wake();
}

/* Who is busy tells them now and then, and when he is not any more. */
void Crew::tell_waiters()
{
    if (!waiters_.any_asleep())
        return;
    const std::uint64_t now = cycles();
    if (now - told_.load(std::memory_order_relaxed) < recent)
        return;
    told_.store(now, std::memory_order_relaxed);
    waiters_.wake();
}

/* Of those that have nothing to do, one looks after the GPUs and what nobody was woken for; who waits looks himself. */
void Crew::rest(Lane &mine, bool waits, const Condition &done, Clock::time_point until, unsigned rests)
{
    if (waits)
        duty_.check_progress();
    const bool guards = (waits || duty_.has_tasks()) && !guards_.exchange(true, std::memory_order_acq_rel);
    if (guards || waits)
        until = std::min(until, Clock::now() + std::min<Clock::duration>(first_nap * (rests + 1), longest_nap));
    lanes_.count(mine, &Lane::sleeps);
    if (!others_look())
        last_search_.store(0, std::memory_order_relaxed);
    if (!waits)
        waiters_.wake();
    const Resting resting(duty_.trace());
    (waits ? waiters_ : sleepers_).sleep_until(until, [&] {
        waking_.store(false, std::memory_order_relaxed);
        return (has_ready_for(waits) && !others_look()) || done() ||
               (!guards && duty_.has_to_serve() && !guards_.load(std::memory_order_relaxed));
    });
    if (guards)
        guards_.store(false, std::memory_order_release);
}

/* As many as may. */
bool Crew::others_look() const
{
    return searching_.load(std::memory_order_relaxed) + gathering_.load(std::memory_order_relaxed) >= most_searching();
}

bool Crew::has_ready_for(bool waits) const
{
    if (queues_have_some())
        return true;
    if (!left_count_.load(std::memory_order_relaxed))
        return false;
    Guard lock(left_mutex_);
    return std::any_of(left_.begin(), left_.end(), [&](const Task *task) { return !waits || duty_.may_run(*task); });
}

bool Crew::queues_have_some() const
{
    return urgent_count_.load(std::memory_order_relaxed) ||
           std::any_of(lanes_.begin(), lanes_.end(), [](const Lane &lane) { return !lane.ready.empty(); });
}

} // namespace ptsched::tasks
