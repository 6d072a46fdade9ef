/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_BASE_SLEEPERS_HPP
#define PTSCHED_BASE_SLEEPERS_HPP

#include "libptsched/base/lock.hpp"
#include <ptsched/base/chrono_clock.hpp>

#include <atomic>
#include <condition_variable>

namespace ptsched {

/* For who waits without a limit. */
inline Clock::time_point no_limit()
{
    return Clock::now() + std::chrono::years(10);
}

/* When so much time has passed; a clock has no room for more than some. */
inline Clock::time_point time_after(std::chrono::nanoseconds most)
{
    return most > std::chrono::years(1) ? no_limit() : Clock::now() + most;
}

/* Threads that sleep until something has changed. Who changes it and finds nobody asleep pays for a fence. */
class Sleepers {
public:
    /* Blocks until @condition holds or @until; whether it holds. Looks a while before it sleeps. */
    template <typename Condition> bool wait_until(Clock::time_point until, Condition condition)
    {
        for (unsigned i = 0; i < looks; i++) {
            if (condition())
                return true;
            if (i > prompt_looks)
                __builtin_ia32_pause();
        }
        return sleep_until(until, condition);
    }
    /* The same for who has looked. */
    template <typename Condition> bool sleep_until(Clock::time_point until, Condition condition)
    {
        Lock lock(mutex_);
        asleep_.fetch_add(1, std::memory_order_seq_cst);
        const bool holds = Clock::wait_until(changed_, lock, until, condition);
        asleep_.fetch_sub(1, std::memory_order_relaxed);
        return holds;
    }

    /* Somebody sleeps or is about to, or has just begun to and is not seen yet. */
    bool any_asleep() const { return asleep_.load(std::memory_order_relaxed); }

    /* To be called when a condition may hold that did not. */
    void wake()
    {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (!any_asleep())
            return;
        Guard lock(mutex_);
        changed_.notify_all();
    }
    /* The same where one of those who wait is enough. Whether there is one, who looks whether his condition holds. */
    bool wake_one()
    {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (!any_asleep())
            return false;
        Guard lock(mutex_);
        changed_.notify_one();
        return any_asleep();
    }

private:
    static constexpr unsigned looks = 1000, prompt_looks = 400;

    std::atomic<unsigned> asleep_{0};
    Mutex mutex_; /* nobody goes to sleep between a change and the news of it */
    std::condition_variable changed_;
};

} // namespace ptsched

#endif /* PTSCHED_BASE_SLEEPERS_HPP */
