/* SPDX-License-Identifier: MIT */
/* The thread that looks whether work has ended, for all of a process. */
#ifndef PTSCHED_DEVICE_POLLER_HPP
#define PTSCHED_DEVICE_POLLER_HPP

#include "libptsched/base/lock.hpp"
#include <ptsched/base/chrono_clock.hpp>
#include <ptsched/device/completions.hpp>

namespace ptsched::device {

/* What the insides know of completions: of one user. The poller's lock protects it. */
struct CompletionsImpl {
    const std::size_t limit_;
    std::size_t waiting_ = 0;
    std::exception_ptr thrown_ = nullptr;
    const void *poller_ = nullptr; /* which has those that wait: another than a forked child's */
};

class Poller {
public:
    /* For good; a forked child, which has not the thread, gets another. */
    static Poller &get();

    void add(CompletionsImpl &owner, MarkerPtr marker, Completions::Callback then, std::chrono::nanoseconds expected);
    /* Until @until, or for ever; whether none waits any more. */
    bool drain(CompletionsImpl &owner, const Clock::time_point *until);
    std::size_t waiting(const CompletionsImpl &owner);

private:
    struct Entry {
        CompletionsImpl *owner;
        MarkerPtr marker;
        Completions::Callback then;
        Clock::time_point since, due; /* to be looked at next */
        Clock::duration expected;
    };

    Poller() = default;
    static void renew();
    static bool is_later(const Entry &a, const Entry &b) { return a.due > b.due; }
    static bool has_ended(const Entry &entry, std::exception_ptr &failure);
    void start() PTSCHED_REQUIRES(mutex_);
    void work();
    void push(Entry entry) PTSCHED_REQUIRES(mutex_);
    Entry pop() PTSCHED_REQUIRES(mutex_);
    void look_at(Entry entry, Lock &lock) PTSCHED_REQUIRES(mutex_);
    std::size_t count(const CompletionsImpl &owner) const PTSCHED_REQUIRES(mutex_)
    {
        return owner.poller_ == this ? owner.waiting_ : 0;
    }

    Mutex mutex_; /* also for the owners' numbers */
    std::condition_variable changed_, drained_;
    std::vector<Entry> entries_ PTSCHED_GUARDED_BY(mutex_); /* a heap: the first is due first */
    bool started_ PTSCHED_GUARDED_BY(mutex_) = false;
    static std::atomic<Poller *> current_;
    static thread_local bool is_poller_;
};

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_POLLER_HPP */
