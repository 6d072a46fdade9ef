// SPDX-License-Identifier: MIT
#include <ptsched/device/queue_pool.hpp>

#include "libptsched/base/lock.hpp"

#include <algorithm>
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

} // namespace

void QueueReturn::operator()(Queue *queue) const noexcept
{
    std::unique_ptr<Queue> owned(queue);
    try {
        if (pool)
            pool->keep(std::move(owned), priority);
    } catch (const std::exception &) {
        /* It is gone, or goes here. */
    }
}

QueuePool &QueuePool::of(Device &device)
{
    static Mutex mutex;
    static auto &pools PTSCHED_GUARDED_BY(mutex) =
        *new std::map<Device *, std::unique_ptr<QueuePool>>; /* as long as devices */
    Guard lock(mutex);
    std::unique_ptr<QueuePool> &pool = pools[&device];
    if (!pool)
        pool.reset(new QueuePool(device));
    return *pool;
}

/* Null if one is to be made. Those that have failed are destroyed without the lock. */
std::unique_ptr<Queue> QueuePool::find(int priority)
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

PooledQueue QueuePool::take(int priority)
{
    const Device::Priorities there = device_.priorities();
    const int nearest = std::clamp(priority, there.lowest, there.highest);
    std::unique_ptr<Queue> queue = find(nearest);
    if (!queue)
        queue = device_.make_queue_at(nearest);
    return PooledQueue(queue.release(), QueueReturn{this, nearest});
}

void QueuePool::keep(std::unique_ptr<Queue> queue, int priority)
{
    MarkerPtr last = queue->mark();
    Guard lock(mutex_);
    Kind &kind = kept_[priority];
    /* Its work is waited for where it is destroyed, after the lock. */
    if (kind.size() < most_kept)
        kind.push_back({std::move(queue), std::move(last)});
}

std::size_t QueuePool::kept() const
{
    Guard lock(mutex_);
    std::size_t count = 0;
    for (const auto &[priority, kind] : kept_)
        count += kind.size();
    return count;
}

void QueuePool::trim()
{
    std::map<int, Kind> going;
    Guard lock(mutex_);
    going.swap(kept_);
}

} // namespace ptsched::device
