/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_DEVICE_MUTEX_HPP
#define PTSCHED_DEVICE_MUTEX_HPP

#include <atomic>

namespace ptsched::device {

/* For what is held for an instant, often, and hardly ever waited for: four bytes, and no call to a library. */
class SmallMutex {
public:
    SmallMutex() = default;
    SmallMutex(const SmallMutex &) = delete;
    SmallMutex &operator=(const SmallMutex &) = delete;

    bool try_lock()
    {
        int expected = open;
        return state_.compare_exchange_strong(expected, held, std::memory_order_acquire, std::memory_order_relaxed);
    }
    void lock()
    {
        if (!try_lock())
            lock_later();
    }
    void unlock()
    {
        if (state_.exchange(open, std::memory_order_release) == wanted)
            state_.notify_one();
    }

private:
    enum : int { open, held, wanted /* and held */ };

    void lock_later()
    {
        while (state_.exchange(wanted, std::memory_order_acquire) != open)
            state_.wait(wanted, std::memory_order_relaxed);
    }

    std::atomic<int> state_{open};
};

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_MUTEX_HPP */
