/* SPDX-License-Identifier: MIT */
/*
 * Queues of a device, by priority, which are given out again: drivers take long to make one, and have not many.
 *
 *	PooledQueue queue = QueuePool::of(device).take();
 *	queue->run(...);
 */
#ifndef PTSCHED_DEVICE_QUEUE_POOL_HPP
#define PTSCHED_DEVICE_QUEUE_POOL_HPP

#include <ptsched/device/device.hpp>

#pragma GCC visibility push(default)

namespace ptsched::device {

class QueuePool;

/* Gives a queue back to its pool, which does not wait for its work. */
struct QueueReturn {
    void operator()(Queue *queue) const noexcept;
    QueuePool *pool = nullptr;
    int priority = 0;
};
using PooledQueue = std::unique_ptr<Queue, QueueReturn>;

/* Of a device, for all of a process. Thread-safe. */
class QueuePool {
public:
    /* That are kept of each priority while nobody has them. */
    static constexpr std::size_t most_kept = 16;

    /* Stays for as long as the process. */
    static QueuePool &of(Device &device);
    QueuePool(const QueuePool &) = delete;
    QueuePool &operator=(const QueuePool &) = delete;

    /*
     * One that nobody else has, and that has no work left unless there are most_kept with some already: then what is
     * given comes after that. Of the device's priority that is nearest. Throws Error if none can be made.
     */
    PooledQueue take(int priority = 0);
    /* How many it keeps. */
    std::size_t kept() const;
    /* Destroys those; waits for their work. */
    void trim();

protected:
    QueuePool() = default;
    ~QueuePool() = default;
};

} // namespace ptsched::device

#pragma GCC visibility pop

#endif /* PTSCHED_DEVICE_QUEUE_POOL_HPP */
