/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_BASE_UNLOCKED_HPP
#define PTSCHED_BASE_UNLOCKED_HPP

#include <ptsched/base/mutex.hpp>

#include <mutex>

namespace ptsched {

inline void lock_soon(std::unique_lock<std::mutex> &lock)
{
    if (!spin_for(lock))
        lock.lock();
}

/* Without the lock meanwhile: drivers take their time. It is held again where an exception is caught outside. */
class Unlocked {
public:
    explicit Unlocked(std::unique_lock<std::mutex> &lock) : lock_(lock) { lock_.unlock(); }
    ~Unlocked() { lock_soon(lock_); }
    Unlocked(const Unlocked &) = delete;
    Unlocked &operator=(const Unlocked &) = delete;

private:
    std::unique_lock<std::mutex> &lock_;
};

} // namespace ptsched

#endif /* PTSCHED_BASE_UNLOCKED_HPP */
