// SPDX-License-Identifier: MIT
#include "tests/hand_clock.h"

#include "libptsched/base/lock.hpp"
#include "libptsched/base/time_calls.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <pthread.h>
#include <sys/eventfd.h>
#include <tuple>
#include <unistd.h>
#include <utility>

namespace test {

/* One that sleeps, until it is woken; what it sleeps for may wake it, too. */
struct Sleeper {
    enum class Rank { library, test };

    std::uint64_t until_ns{ptsched::kNoLimit};
    Rank rank{Rank::library};
    Condition would_wake{nullptr}; /* whether something that wakes it has happened already; none: nothing does */
    Condition awaits{nullptr};     /* asked when all sleep: whether it is to be woken */
    void *argument{nullptr};       /* of these two */
    const std::atomic<std::uint32_t> *word{nullptr}; /* whose waiters it is among */
    int wakes_fd{-1};                                /* an eventfd that wakes it; none: the condition does */
    std::condition_variable condition{};
    bool takes_part{false}, woken{false};
    Sleeper *next{nullptr}; /* who fell asleep after it; or a free one */
};

namespace {

using ptsched::kNoLimit;
using Rank = Sleeper::Rank;

/* Any but zero, which means "never" in many places. */
constexpr std::uint64_t beginning_ns = 1000000000000;

/* So many of one kind: no memory is asked for later, since a test may see to it that the library under it gets none. */
template <class T> class Pool {
public:
    T *get()
    {
        ptsched::Guard guard(lock_);
        auto unused = std::find(used_.begin(), used_.end(), false);
        if (unused == used_.end())
            std::abort();
        *unused = true;
        return &all_[static_cast<std::size_t>(unused - used_.begin())];
    }
    void put(const T *one)
    {
        ptsched::Guard guard(lock_);
        used_[static_cast<std::size_t>(one - all_.data())] = false;
    }

private:
    ptsched::Mutex lock_;
    std::array<T, 64> all_{};
    std::array<bool, 64> used_ PTSCHED_GUARDED_BY(lock_) = {};
};

/* What a thread that is being made shall do. */
struct Task {
    void *(*body)(void *);
    void *argument;
};

struct State {
    ptsched::Mutex lock;
    std::atomic<std::uint64_t> now_ns{beginning_ns};
    Sleeper *first PTSCHED_GUARDED_BY(lock) = nullptr;
    unsigned taking_part PTSCHED_GUARDED_BY(lock) = 0;
    Pool<Sleeper> elsewhere{};
    Pool<Task> tasks{};
};

/* For threads that outlive main(). */
State &state = *new State;
thread_local bool takes_part = false;

void wake(Sleeper &sleeper)
{
    sleeper.woken = true;
    if (sleeper.wakes_fd >= 0)
        eventfd_write(sleeper.wakes_fd, 1);
    else
        sleeper.condition.notify_one();
}

bool somebody_runs() PTSCHED_REQUIRES(state.lock)
{
    unsigned asleep = 0;
    for (const Sleeper *one = state.first; one; one = one->next) {
        if (one->woken || (one->would_wake && one->would_wake(one->argument)))
            return true;
        asleep += one->takes_part;
    }
    return asleep < state.taking_part;
}

void move_on() PTSCHED_REQUIRES(state.lock)
{
    if (somebody_runs())
        return;
    Sleeper *next = nullptr;
    auto moment = [](const Sleeper &one) { return std::tuple(one.until_ns, one.rank); };
    for (Sleeper *one = state.first; one; one = one->next) {
        if (one->awaits && one->awaits(one->argument))
            return wake(*one);
        if (!next || moment(*one) < moment(*next))
            next = one;
    }
    if (!next || next->until_ns == kNoLimit)
        return;
    state.now_ns = std::max(state.now_ns.load(), next->until_ns);
    wake(*next);
}

void fall_asleep(Sleeper &sleeper) PTSCHED_REQUIRES(state.lock)
{
    sleeper.takes_part = takes_part;
    Sleeper **last = &state.first;
    while (*last)
        last = &(*last)->next;
    *last = &sleeper;
    move_on();
}

void get_up(Sleeper &sleeper) PTSCHED_REQUIRES(state.lock)
{
    Sleeper **place = &state.first;
    while (*place && *place != &sleeper)
        place = &(*place)->next;
    if (*place)
        *place = sleeper.next;
    sleeper.next = nullptr;
    /* Of one that takes no part it is not known what it does now. */
    if (!sleeper.takes_part)
        move_on();
}

std::uint64_t in(std::uint64_t ns)
{
    std::uint64_t now = state.now_ns;
    return ns < kNoLimit - now ? now + ns : kNoLimit;
}

void sleep(Sleeper &sleeper, ptsched::Lock &guard) PTSCHED_REQUIRES(state.lock)
{
    fall_asleep(sleeper);
    sleeper.condition.wait(guard, [&sleeper] { return sleeper.woken; });
    get_up(sleeper);
}

void sleep(Sleeper &&sleeper)
{
    ptsched::Lock guard(state.lock);
    sleep(sleeper, guard);
}

void count_threads(int more)
{
    ptsched::Guard guard(state.lock);
    state.taking_part += static_cast<unsigned>(more);
    move_on();
}

Sleeper *fall_asleep_elsewhere(Condition would_wake, void *argument)
{
    Sleeper *sleeper = state.elsewhere.get();
    sleeper->would_wake = would_wake;
    sleeper->argument = argument;
    ptsched::Guard guard(state.lock);
    fall_asleep(*sleeper);
    return sleeper;
}

void get_up_elsewhere(Sleeper *sleeper)
{
    {
        ptsched::Guard guard(state.lock);
        get_up(*sleeper);
    }
    state.elsewhere.put(sleeper);
}

/* In the child there is no thread but the one that made it. */
__attribute__((constructor)) void follow_forks()
{
    pthread_atfork([] { state.lock.lock(); }, [] { state.lock.unlock(); },
                   []() PTSCHED_NO_THREAD_SAFETY_ANALYSIS {
                       /* With the lock of the first one. */
                       for (Sleeper *one = state.first; one;)
                           one = std::exchange(one->next, nullptr);
                       state.first = nullptr;
                       state.taking_part = takes_part;
                       state.lock.unlock();
                   });
}

} // namespace
} // namespace test

namespace ptsched {

using test::Sleeper;
using test::state;

std::uint64_t monotonic_ns()
{
    return state.now_ns;
}

void nap(std::uint64_t ns)
{
    test::sleep({.until_ns = test::in(ns)});
}

int poll_within(pollfd *fds, nfds_t count, std::uint64_t ns)
{
    struct Polled {
        std::array<pollfd, 16> fds;
        nfds_t count;
    } asked{.fds = {}, .count = count};
    if (count >= asked.fds.size())
        std::abort();
    std::copy_n(fds, count, asked.fds.begin());
    std::array<pollfd, 16> all = asked.fds;
    int woken = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    all[count] = {woken, POLLIN, 0};
    Sleeper sleeper{.until_ns = test::in(ns),
                    .would_wake =
                        [](void *polled) {
                            auto &asked = *static_cast<Polled *>(polled);
                            return poll(asked.fds.data(), asked.count, 0) != 0;
                        },
                    .argument = &asked,
                    .wakes_fd = woken};
    {
        ptsched::Guard guard(state.lock);
        test::fall_asleep(sleeper);
    }
    poll(all.data(), count + 1, -1);
    {
        ptsched::Guard guard(state.lock);
        test::get_up(sleeper);
    }
    close(woken);
    return poll(fds, count, 0);
}

int epoll_wait_within(int epoll, epoll_event *events, int most, std::uint64_t ns)
{
    pollfd all{.fd = epoll, .events = POLLIN, .revents = 0};
    return poll_within(&all, 1, ns) > 0 ? epoll_wait(epoll, events, most, 0) : 0;
}

void wait_while(std::atomic<std::uint32_t> &word, std::uint32_t value, std::uint64_t ns)
{
    ptsched::Lock guard(state.lock);
    if (word != value)
        return;
    Sleeper sleeper{.until_ns = test::in(ns), .word = &word};
    test::sleep(sleeper, guard);
}

void wake_waiters(std::atomic<std::uint32_t> &word)
{
    ptsched::Guard guard(state.lock);
    for (Sleeper *one = state.first; one; one = one->next) {
        if (one->word == &word)
            test::wake(*one);
    }
}

} // namespace ptsched

extern "C" {

const test::HandClock hand_clock = {
    .now_ns = ptsched::monotonic_ns,
    .pass_ns = [](std::uint64_t ns) { test::sleep({.until_ns = test::in(ns), .rank = test::Rank::test}); },
    .await = [](test::Condition holds, void *argument) { test::sleep({.awaits = holds, .argument = argument}); },
    .expect_thread = [] { test::count_threads(1); },
    .thread_begins = [] { test::takes_part = true; },
    .thread_ends =
        [] {
            test::takes_part = false;
            test::count_threads(-1);
        },
    .fall_asleep = test::fall_asleep_elsewhere,
    .get_up = test::get_up_elsewhere,
};

/* With --wrap=pthread_create, threads of what it is linked with take part. */
int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument)
{
    auto run = [](void *given) -> void * {
        test::Task task = *static_cast<test::Task *>(given);
        test::state.tasks.put(static_cast<test::Task *>(given));
        hand_clock.thread_begins();
        void *result = task.body(task.argument);
        hand_clock.thread_ends();
        return result;
    };
    hand_clock.expect_thread();
    test::Task *task = test::state.tasks.get();
    *task = {body, argument};
    int error = __real_pthread_create(thread, attributes, run, task);
    if (error) {
        test::state.tasks.put(task);
        test::count_threads(-1);
    }
    return error;
}

} /* extern "C" */
