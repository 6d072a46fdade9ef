// SPDX-License-Identifier: MIT
#include "libptsched/base/lock.hpp"
#include <ptsched/device/queue_pool.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace ptsched::device {

namespace {

enum class State { free, busy, failed };

/* A queue whose work has failed does nothing any more. */
State state_of(Marker &last)
{
    try {
        return last.reached() ? State::free : State::busy;
    } catch (const std::exception &) {
        return State::failed;
    }
}

struct QueuePoolImpl final : QueuePool {
    struct Kept {
        std::unique_ptr<Queue> queue;
        MarkerPtr last; /* of what it has been given */
    };
    using Kind = std::vector<Kept>; /* the one that has been kept for longest first */

    explicit QueuePoolImpl(Device &device) : device_(device) {}
    std::unique_ptr<Queue> find(int priority);
    void keep(std::unique_ptr<Queue> queue, int priority);

    Device &device_;
    mutable Mutex mutex_;
    std::map<int, Kind> kept_ PTSCHED_GUARDED_BY(mutex_);
};

QueuePoolImpl &impl(QueuePool &pool)
{
    return static_cast<QueuePoolImpl &>(pool);
}

/* Null if one is to be made. Those that have failed are destroyed without the lock. */
std::unique_ptr<Queue> QueuePoolImpl::find(int priority)
{
    Kind failed;
    Guard lock(mutex_);
    Kind &kind = kept_[priority];
    for (auto one = kind.begin(); one != kind.end();) {
        const State state = state_of(*one->last);
        if (state == State::busy) {
            ++one;
            continue;
        }
        Kept taken = std::move(*one);
        one = kind.erase(one);
        if (state == State::free)
            return std::move(taken.queue);
        failed.push_back(std::move(taken));
    }
    if (kind.size() < most_kept)
        return nullptr;
    std::unique_ptr<Queue> busy = std::move(kind.front().queue);
    kind.erase(kind.begin());
    return busy;
}

void QueuePoolImpl::keep(std::unique_ptr<Queue> queue, int priority)
{
    MarkerPtr last = queue->mark();
    Guard lock(mutex_);
    Kind &kind = kept_[priority];
    /* Its work is waited for where it is destroyed, after the lock. */
    if (kind.size() < most_kept)
        kind.push_back({std::move(queue), std::move(last)});
}

} // namespace

void QueueReturn::operator()(Queue *queue) const noexcept
{
    std::unique_ptr<Queue> owned(queue);
    try {
        if (pool)
            impl(*pool).keep(std::move(owned), priority);
    } catch (const std::exception &) {
        /* It is gone, or goes here. */
    }
}

QueuePool &QueuePool::of(Device &device)
{
    static Mutex mutex;
    static auto &pools PTSCHED_GUARDED_BY(mutex) =
        *new std::map<Device *, std::unique_ptr<QueuePoolImpl>>; /* as long as devices */
    Guard lock(mutex);
    std::unique_ptr<QueuePoolImpl> &pool = pools[&device];
    if (!pool)
        pool = std::make_unique<QueuePoolImpl>(device);
    return *pool;
}

PooledQueue QueuePool::take(int priority)
{
    QueuePoolImpl &pool = impl(*this);
    const Device::Priorities there = pool.device_.priorities();
    const int nearest = std::clamp(priority, there.lowest, there.highest);
    std::unique_ptr<Queue> queue = pool.find(nearest);
    if (!queue)
        queue = pool.device_.make_queue_at(nearest);
    return PooledQueue(queue.release(), QueueReturn{this, nearest});
}

std::size_t QueuePool::kept() const
{
    const auto &pool = static_cast<const QueuePoolImpl &>(*this);
    Guard lock(pool.mutex_);
    std::size_t count = 0;
    for (const auto &[priority, kind] : pool.kept_)
        count += kind.size();
    return count;
}

void QueuePool::trim()
{
    QueuePoolImpl &pool = impl(*this);
    std::map<int, QueuePoolImpl::Kind> going;
    Guard lock(pool.mutex_);
    going.swap(pool.kept_);
}

} // namespace ptsched::device
