/* SPDX-License-Identifier: MIT */
/*
 * Time that a test makes: what libptsched/base/time_calls.hpp declares, for a program or library that is linked with
 * hand_clock.cpp in place of time_calls.cpp.
 *
 * Threads that take part are known from before they begin until they end. Time stands still while one of them runs.
 * When all of them sleep, and nothing has happened that would wake one, it moves on to the next moment at which a sleep
 * ends; one sleeper is woken at a time, a test's own last. So nothing depends on how fast a thread is.
 */
#ifndef PTSCHED_TESTS_HAND_CLOCK_H
#define PTSCHED_TESTS_HAND_CLOCK_H

#include <cstdint>

namespace test {

struct Sleeper;

/* What is asked of what somebody waits for. */
using Condition = bool (*)(void *argument);

/* Its functions may be called by any thread. */
struct HandClock {
    std::uint64_t (*now_ns)();
    /* The caller sleeps, and whatever is due until then happens before it goes on. */
    void (*pass_ns)(std::uint64_t ns);
    /* The caller sleeps until @holds, which is asked when all others sleep; time passes only until then. */
    void (*await)(Condition holds, void *argument);
    /* A thread takes part: told by its maker, by itself when it begins, and by itself when it is about to end. */
    void (*expect_thread)();
    void (*thread_begins)();
    void (*thread_ends)();
    /* The caller falls asleep in a way that the clock does not know, and has got up again: see AsleepElsewhere. */
    Sleeper *(*fall_asleep)(Condition would_wake, void *argument);
    void (*get_up)(Sleeper *);
};

/*
 * While it lives, the caller sleeps in a way that the clock does not know. @would_wake says whether what it sleeps for
 * has happened, which includes that it has woken; it is called with the clock's lock held, so that what it locks must
 * not be held by anybody who calls the clock. Without a clock it does nothing.
 */
class AsleepElsewhere {
public:
    AsleepElsewhere(const HandClock *clock, Condition would_wake, void *argument)
        : clock_(clock), sleeper_(clock ? clock->fall_asleep(would_wake, argument) : nullptr)
    {
    }
    ~AsleepElsewhere()
    {
        if (clock_)
            clock_->get_up(sleeper_);
    }
    AsleepElsewhere(const AsleepElsewhere &) = delete;
    AsleepElsewhere &operator=(const AsleepElsewhere &) = delete;

private:
    const HandClock *clock_;
    Sleeper *sleeper_;
};

} // namespace test

/* By dlsym(RTLD_DEFAULT, "hand_clock") where it lies in another library than the test; weak, for who can do without. */
extern "C" __attribute__((visibility("default"), weak)) const test::HandClock hand_clock;

#endif /* PTSCHED_TESTS_HAND_CLOCK_H */
