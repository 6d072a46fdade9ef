// SPDX-License-Identifier: MIT
#include "libptsched/base/no_signals.hpp"
#include "libptsched/device/poller.hpp"

#include <algorithm>
#include <pthread.h>
#include <system_error>
#include <thread>
#include <utility>

namespace ptsched::device {

namespace {

/* Between two looks, so much of what it takes, or is expected to: that is how late its end may be noticed. */
constexpr int looks_while_it_takes = 16;
constexpr std::chrono::microseconds shortest_nap{20}, longest_nap{5000};

Clock::duration nap_after(Clock::duration took)
{
    return std::clamp<Clock::duration>(took / looks_while_it_takes, shortest_nap, longest_nap);
}

} // namespace

std::atomic<Poller *> Poller::current_;
thread_local bool Poller::is_poller_;

Poller &Poller::get()
{
    static const int made = (renew(), pthread_atfork(nullptr, nullptr, renew));
    (void)made;
    return *current_.load(std::memory_order_relaxed);
}

void Poller::renew()
{
    current_.store(new Poller, std::memory_order_relaxed);
    is_poller_ = false;
}

void Poller::start()
{
    if (started_)
        return;
    NoSignals for_it;
    try {
        std::thread(&Poller::work, this).detach();
    } catch (const std::system_error &error) {
        throw Error(std::string("there is no thread that would look for the ends of work: ") + error.what());
    }
    started_ = true;
}

void Poller::push(Entry entry)
{
    entries_.push_back(std::move(entry));
    std::push_heap(entries_.begin(), entries_.end(), is_later);
}

Poller::Entry Poller::pop()
{
    std::pop_heap(entries_.begin(), entries_.end(), is_later);
    Entry entry = std::move(entries_.back());
    entries_.pop_back();
    return entry;
}

void Poller::add(CompletionsImpl &owner, MarkerPtr marker, Completions::Callback then,
                 std::chrono::nanoseconds expected)
{
    const auto now = Clock::now();
    const Clock::duration first = std::max<Clock::duration>(expected - nap_after(expected), shortest_nap);
    Guard lock(mutex_);
    if (count(owner) >= owner.limit_)
        throw Error(std::to_string(owner.limit_) + " call-backs wait for work to end already, and no more may at once");
    start();
    const bool is_first = entries_.empty() || now + first < entries_.front().due;
    push({&owner, std::move(marker), std::move(then), now, now + first, expected});
    owner.waiting_ = count(owner) + 1;
    owner.poller_ = this;
    if (is_first)
        changed_.notify_one();
}

bool Poller::has_ended(const Entry &entry, std::exception_ptr &failure)
{
    try {
        return entry.marker->reached();
    } catch (...) {
        failure = std::current_exception();
        return true;
    }
}

/* Its owner may go as soon as it counts no more. */
void Poller::look_at(Entry entry, Lock &lock)
{
    std::exception_ptr failure, thrown;
    lock.unlock(mutex_);
    const bool ended = has_ended(entry, failure);
    if (ended) {
        try {
            entry.then(std::move(failure));
        } catch (...) {
            thrown = std::current_exception();
        }
        entry.then = nullptr;
        entry.marker.reset();
    }
    lock.lock(mutex_);
    if (!ended) {
        const auto now = Clock::now();
        entry.due = now + nap_after(std::max(now - entry.since, entry.expected));
        push(std::move(entry));
        return;
    }
    CompletionsImpl &owner = *entry.owner;
    if (thrown && !owner.thrown_)
        owner.thrown_ = std::move(thrown);
    if (!--owner.waiting_)
        drained_.notify_all();
}

void Poller::work()
{
    pthread_setname_np(pthread_self(), "ptsched-poll");
    is_poller_ = true;
    Lock lock(mutex_);
    for (;;) {
        if (entries_.empty())
            changed_.wait(lock);
        else if (const auto stretch = Clock::stretch_until(entries_.front().due); stretch > Clock::duration::zero())
            changed_.wait_for(lock, stretch);
        else
            look_at(pop(), lock);
    }
}

bool Poller::drain(CompletionsImpl &owner, const Clock::time_point *until)
{
    if (is_poller_)
        throw Error("a call-back waits for the end of all call-backs, its own included: who began the work is to wait");
    Lock lock(mutex_);
    auto none_waits = [&]() PTSCHED_REQUIRES(mutex_) { return !count(owner); };
    if (!until)
        drained_.wait(lock, none_waits);
    else if (!Clock::wait_until(drained_, lock, *until, none_waits))
        return false;
    if (const std::exception_ptr thrown = std::exchange(owner.thrown_, nullptr))
        std::rethrow_exception(thrown);
    return true;
}

std::size_t Poller::waiting(const CompletionsImpl &owner)
{
    Guard lock(mutex_);
    return count(owner);
}

Completions::Completions(std::size_t limit) : impl_(new CompletionsImpl{limit}) {}

Completions::~Completions()
{
    try {
        drain();
    } catch (...) {
        /* Of a call-back: nobody asks for it any more. */
    }
}

void Completions::when(MarkerPtr marker, Callback then, std::chrono::nanoseconds expected)
{
    if (!marker)
        throw Error("a call-back waits for a marker that is null: Queue::mark() makes one");
    if (!then)
        throw Error("what is to be done when work has ended is an empty function");
    Poller::get().add(*impl_, std::move(marker), std::move(then), std::max(expected, std::chrono::nanoseconds{}));
}

void Completions::drain()
{
    Poller::get().drain(*impl_, nullptr);
}

bool Completions::drain_for(std::chrono::nanoseconds most)
{
    const auto until = Clock::now() + most;
    return Poller::get().drain(*impl_, &until);
}

std::size_t Completions::waiting() const
{
    return Poller::get().waiting(*impl_);
}

} // namespace ptsched::device
