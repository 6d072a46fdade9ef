/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_BASE_MUTEX_HPP
#define PTSCHED_BASE_MUTEX_HPP

#include <ptsched/base/thread_safety.hpp>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#pragma GCC visibility push(default)

namespace ptsched {

/* What PTSCHED_GUARDED_BY() can name. */
using Mutex PTSCHED_CAPABILITY("mutex") = std::mutex;

/* Who has a lock for an instant lets go of it soon: to sleep until then takes longer. False if he has it still. */
template <typename Lockable> bool spin_for(Lockable &lock) PTSCHED_TRY_ACQUIRE(true, lock)
{
    constexpr unsigned tries = 200;
    for (unsigned i = 0; i < tries; i++) {
        if (lock.try_lock())
            return true;
        __builtin_ia32_pause();
    }
    return false;
}

/*
 * For what is held often, nearly always for an instant, and hardly ever waited for. To let go of it is a store, since
 * most of what it costs are instructions that lock the bus: so nobody is told. Who waits looks, and sleeps in between,
 * since the one who has it may be to run on the same processor, or wait for a device.
 */
class PTSCHED_CAPABILITY("mutex") SmallMutex {
public:
    SmallMutex() = default;
    SmallMutex(const SmallMutex &) = delete;
    SmallMutex &operator=(const SmallMutex &) = delete;

    bool try_lock() PTSCHED_TRY_ACQUIRE(true)
    {
        return !held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire);
    }
    void lock() PTSCHED_ACQUIRE()
    {
        if (held_.exchange(true, std::memory_order_acquire))
            lock_later();
    }
    void unlock() PTSCHED_RELEASE() { held_.store(false, std::memory_order_release); }

private:
    void lock_later() PTSCHED_ACQUIRE()
    {
        constexpr std::chrono::microseconds nap{50};
        while (!spin_for(*this))
            std::this_thread::sleep_for(nap);
    }

    std::atomic<bool> held_{false};
};

} // namespace ptsched

#pragma GCC visibility pop

#endif /* PTSCHED_BASE_MUTEX_HPP */
