/* SPDX-License-Identifier: MIT */
/* How locks are taken and let go, so that clang's analysis follows (<ptsched/base/thread_safety.hpp>). */
#ifndef PTSCHED_BASE_LOCK_HPP
#define PTSCHED_BASE_LOCK_HPP

#include <ptsched/base/mutex.hpp>

#include <mutex>

namespace ptsched {

/* As std::lock_guard. */
template <typename Lockable> class PTSCHED_SCOPED_CAPABILITY Guard {
public:
    explicit Guard(Lockable &mutex) PTSCHED_ACQUIRE(mutex) : guard_(mutex) {}
    /* Of one that is locked. */
    Guard(Lockable &mutex, std::adopt_lock_t adopt) PTSCHED_REQUIRES(mutex) : guard_(mutex, adopt) {}
    ~Guard() PTSCHED_RELEASE() {}
    Guard(const Guard &) = delete;
    Guard &operator=(const Guard &) = delete;

private:
    std::lock_guard<Lockable> guard_;
};

/* It is held for an instant at most, see spin_for(). */
struct Soon {};
inline constexpr Soon soon;

/* As std::unique_lock, which condition variables get. */
template <typename Lockable> class PTSCHED_SCOPED_CAPABILITY UniqueLock {
public:
    explicit UniqueLock(Lockable &mutex) PTSCHED_ACQUIRE(mutex) : lock_(mutex) {}
    UniqueLock(Lockable &mutex, Soon) PTSCHED_ACQUIRE(mutex) : lock_(mutex, std::defer_lock) { lock_soon(); }
    /* Of one that is locked. */
    UniqueLock(Lockable &mutex, std::adopt_lock_t adopt) PTSCHED_REQUIRES(mutex) : lock_(mutex, adopt) {}
    ~UniqueLock() PTSCHED_RELEASE() {}
    UniqueLock(const UniqueLock &) = delete;
    UniqueLock &operator=(const UniqueLock &) = delete;
    void lock() PTSCHED_ACQUIRE() { lock_.lock(); }
    void unlock() PTSCHED_RELEASE() { lock_.unlock(); }
    /*
     * The same for who was given it, locked, as it is to be again: @mutex is the one that it locks. The analysis does
     * not see that, here as below.
     */
    void lock([[maybe_unused]] Lockable &mutex) PTSCHED_ACQUIRE(mutex) PTSCHED_NO_THREAD_SAFETY_ANALYSIS
    {
        lock_.lock();
    }
    void unlock([[maybe_unused]] Lockable &mutex) PTSCHED_RELEASE(mutex) PTSCHED_NO_THREAD_SAFETY_ANALYSIS
    {
        lock_.unlock();
    }
    operator std::unique_lock<Lockable> &() { return lock_; }

private:
    template <typename> friend class Unlocked;
    void lock_soon() PTSCHED_NO_THREAD_SAFETY_ANALYSIS
    {
        if (!spin_for(lock_))
            lock_.lock();
    }

    std::unique_lock<Lockable> lock_;
};
using Lock = UniqueLock<Mutex>;

/*
 * Without the lock meanwhile, which is of @mutex: drivers take their time. It is held again where an exception is
 * caught outside.
 */
template <typename Lockable> class PTSCHED_SCOPED_CAPABILITY Unlocked {
public:
    Unlocked(UniqueLock<Lockable> &lock, [[maybe_unused]] Lockable &mutex) PTSCHED_RELEASE(mutex) : lock_(lock)
    {
        lock_.lock_.unlock();
    }
    ~Unlocked() PTSCHED_RELEASE() { lock_.lock_soon(); }
    Unlocked(const Unlocked &) = delete;
    Unlocked &operator=(const Unlocked &) = delete;

private:
    UniqueLock<Lockable> &lock_;
};

} // namespace ptsched

#endif /* PTSCHED_BASE_LOCK_HPP */
