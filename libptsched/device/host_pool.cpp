// SPDX-License-Identifier: MIT
#include <ptsched/device/host_pool.hpp>

#include "libptsched/base/lock.hpp"
#include "libptsched/base/no_signals.hpp"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

namespace ptsched::device {

namespace {

/* Threads that are not needed any more stay that long. */
constexpr std::chrono::seconds linger{2};

} // namespace

std::atomic<HostPool *> HostPool::current_;
thread_local bool HostPool::is_worker_, HostPool::is_blocked_, HostPool::looks_soon_;

HostPool &HostPool::get()
{
    static const int made = (renew(), pthread_atfork(nullptr, nullptr, renew));
    (void)made;
    return *current_.load(std::memory_order_relaxed);
}

/* For good, as devices are. A forked child, which has none of the threads, gets another. */
void HostPool::renew()
{
    current_.store(new HostPool, std::memory_order_relaxed);
    is_worker_ = looks_soon_ = false;
}

/* With one processor there are two, as one function may wait for another. */
HostPool::HostPool() : processors_(std::max(2u, std::thread::hardware_concurrency())), at_once_(processors_) {}

void HostPool::count(unsigned &what, int more)
{
    what += static_cast<unsigned>(more);
    at_once_.store(std::min(processors_ + blocked_ + grown_, most_threads), std::memory_order_relaxed);
}

void HostPool::list(const HostGroupPtr &group)
{
    if (group->waits_ || !group->may_begin())
        return;
    group->waits_ = true;
    groups_.push_back(group);
}

void HostPool::ready(const HostGroupPtr &group, HostWork &work)
{
    Guard lock(mutex_);
    group->ready_.push_back(&work);
    group->waiting_++;
    list(group);
    if (!std::exchange(looks_soon_, false) && !wake())
        throw Error("there is no thread for functions of the host, and none can be made");
}

void HostPool::look()
{
    ptsched::Lock lock(mutex_);
    while (!wake())
        do_one(lock);
}

/* One more thread for what may begin, or to watch over those that have the time. False if there is none at all. */
bool HostPool::wake()
{
    if (groups_.empty() || (busy_ >= at_once() && watched_))
        return true;
    if (idle_)
        changed_.notify_one();
    else if (threads_ <= at_once())
        return start_thread();
    return true;
}

bool HostPool::start_thread()
{
    NoSignals for_it;
    threads_++;
    try {
        std::thread(&HostPool::work, this).detach();
    } catch (const std::system_error &) {
        /* Those that there are do it, later. */
        threads_--;
    }
    return threads_;
}

void HostPool::work()
{
    is_worker_ = true;
    ptsched::Lock lock(mutex_);
    bool stays = true;
    while (stays) {
        if (!groups_.empty() && busy_ < at_once()) {
            do_one(lock);
            continue;
        }
        idle_++;
        if (groups_.empty() || watched_)
            stays = rest(lock);
        else
            watch(lock);
        idle_--;
    }
    threads_--;
}

void HostPool::do_one(Lock &lock)
{
    const HostGroupPtr group = std::move(groups_.front());
    groups_.pop_front();
    group->waits_ = false;
    /* There may be a guest now. */
    if (!group->may_begin())
        return;
    HostWork &work = *group->ready_.front();
    group->ready_.pop_front();
    group->waiting_--;
    group->busy_++;
    list(group);
    busy_++;
    const Clock::time_point began = begun_at_ = Clock::now();
    wake();
    lock.unlock();
    work.do_piece();
    looks_soon_ = false;
    lock.lock();
    busy_--;
    group->busy_--;
    list(group);
    if (grown_ && Clock::now() - began > patience)
        count(grown_, -1);
}

/* False if the thread is one too many. */
bool HostPool::rest(Lock &lock)
{
    if (threads_ <= processors_ + 1) {
        changed_.wait(lock);
        return true;
    }
    return changed_.wait_for(lock, linger) == std::cv_status::no_timeout || !groups_.empty();
}

/* Everybody is at something, and something waits. */
void HostPool::watch(Lock &lock)
{
    watched_ = true;
    if (const auto stretch = Clock::stretch_until(begun_at_ + patience); stretch > Clock::duration::zero())
        changed_.wait_for(lock, stretch);
    watched_ = false;
    if (groups_.empty() || busy_ < at_once() || Clock::now() - begun_at_ < patience)
        return;
    begun_at_ = Clock::now();
    if (at_once() < most_threads)
        count(grown_, 1);
}

HostPool::Blocked::Blocked() : counts_(is_worker_ && !is_blocked_)
{
    if (!counts_)
        return;
    is_blocked_ = true;
    HostPool &pool = get();
    Guard lock(pool.mutex_);
    pool.count(pool.blocked_, 1);
    pool.wake();
}

HostPool::Blocked::~Blocked()
{
    if (!counts_)
        return;
    is_blocked_ = false;
    HostPool &pool = get();
    Guard lock(pool.mutex_);
    pool.count(pool.blocked_, -1);
}

bool HostPool::enters(HostGroup &group)
{
    if (!group.most_)
        return true;
    Guard lock(get().mutex_);
    const bool may = group.busy_ < group.most_;
    group.busy_ += may;
    return may;
}

HostPool::Guest::Guest(const HostGroupPtr &group) : group_(group), may_work_(enters(*group)) {}

HostPool::Guest::~Guest()
{
    if (!may_work_ || !group_->most_)
        return;
    HostPool &pool = get();
    Guard lock(pool.mutex_);
    group_->busy_--;
    pool.list(group_);
    pool.wake();
}

} // namespace ptsched::device
