// SPDX-License-Identifier: MIT
#include "libptsched/device/host_pool.hpp"

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

std::atomic<HostPoolImpl *> HostPoolImpl::current_;
thread_local bool HostPoolImpl::is_worker_, HostPoolImpl::is_blocked_, HostPoolImpl::looks_soon_;

HostPoolImpl &HostPoolImpl::get()
{
    static const int made = (renew(), pthread_atfork(nullptr, nullptr, renew));
    (void)made;
    return *current_.load(std::memory_order_relaxed);
}

/* For good, as devices are. A forked child, which has none of the threads, gets another. */
void HostPoolImpl::renew()
{
    current_.store(new HostPoolImpl, std::memory_order_relaxed);
    is_worker_ = looks_soon_ = false;
}

/* With one processor there are two, as one function may wait for another. */
HostPoolImpl::HostPoolImpl() : processors_(std::max(2u, std::thread::hardware_concurrency())), at_once_(processors_) {}

void HostPoolImpl::count(unsigned &what, int more)
{
    what += static_cast<unsigned>(more);
    at_once_.store(std::min(processors_ + blocked_ + grown_, most_threads), std::memory_order_relaxed);
}

void HostPoolImpl::list(const HostGroupPtr &group)
{
    if (impl(*group).waits_ || !impl(*group).may_begin())
        return;
    impl(*group).waits_ = true;
    groups_.push_back(group);
}

void HostPoolImpl::ready(const HostGroupPtr &group, HostWork &work)
{
    Guard lock(mutex_);
    impl(*group).ready_.push_back(&work);
    impl(*group).waiting_++;
    list(group);
    if (!std::exchange(looks_soon_, false) && !wake())
        throw Error("there is no thread for functions of the host, and none can be made");
}

void HostPoolImpl::look()
{
    Lock lock(mutex_);
    while (!wake())
        do_one(lock);
}

/* One more thread for what may begin, or to watch over those that have the time. False if there is none at all. */
bool HostPoolImpl::wake()
{
    if (groups_.empty() || (busy_ >= at_once() && watched_))
        return true;
    if (idle_)
        changed_.notify_one();
    else if (threads_ <= at_once())
        return start_thread();
    return true;
}

bool HostPoolImpl::start_thread()
{
    NoSignals for_it;
    threads_++;
    try {
        std::thread(&HostPoolImpl::work, this).detach();
    } catch (const std::system_error &) {
        /* Those that there are do it, later. */
        threads_--;
    }
    return threads_;
}

void HostPoolImpl::work()
{
    is_worker_ = true;
    Lock lock(mutex_);
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

void HostPoolImpl::do_one(Lock &lock)
{
    const HostGroupPtr pointer = std::move(groups_.front());
    HostGroupImpl &group = impl(*pointer);
    groups_.pop_front();
    group.waits_ = false;
    /* There may be a guest now. */
    if (!group.may_begin())
        return;
    HostWork &work = *group.ready_.front();
    group.ready_.pop_front();
    group.waiting_--;
    group.busy_++;
    list(pointer);
    busy_++;
    const Clock::time_point began = begun_at_ = Clock::now();
    wake();
    lock.unlock(mutex_);
    work.do_piece();
    looks_soon_ = false;
    lock.lock(mutex_);
    busy_--;
    group.busy_--;
    list(pointer);
    if (grown_ && Clock::now() - began > patience)
        count(grown_, -1);
}

/* False if the thread is one too many. */
bool HostPoolImpl::rest(Lock &lock)
{
    if (threads_ <= processors_ + 1) {
        changed_.wait(lock);
        return true;
    }
    return changed_.wait_for(lock, linger) == std::cv_status::no_timeout || !groups_.empty();
}

/* Everybody is at something, and something waits. */
void HostPoolImpl::watch(Lock &lock)
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

void HostPoolImpl::looks_soon()
{
    looks_soon_ = is_worker_;
}

bool HostPoolImpl::block()
{
    if (!is_worker_ || is_blocked_)
        return false;
    is_blocked_ = true;
    HostPoolImpl &pool = get();
    Guard lock(pool.mutex_);
    pool.count(pool.blocked_, 1);
    pool.wake();
    return true;
}

void HostPoolImpl::unblock()
{
    is_blocked_ = false;
    HostPoolImpl &pool = get();
    Guard lock(pool.mutex_);
    pool.count(pool.blocked_, -1);
}

bool HostPoolImpl::enters(HostGroupImpl &group)
{
    if (!group.most_)
        return true;
    Guard lock(get().mutex_);
    const bool may = group.busy_ < group.most_;
    group.busy_ += may;
    return may;
}

void HostPoolImpl::leaves(const HostGroupPtr &group)
{
    Guard lock(mutex_);
    impl(*group).busy_--;
    list(group);
    wake();
}

HostPoolImpl::Guest::Guest(const HostGroupPtr &group) : group_(group), may_work_(enters(impl(*group))) {}

HostPoolImpl::Guest::~Guest()
{
    if (may_work_ && impl(*group_).most_)
        get().leaves(group_);
}

HostPool &HostPool::get()
{
    return HostPoolImpl::get();
}

unsigned HostPool::at_once() const
{
    return static_cast<const HostPoolImpl &>(*this).at_once();
}

HostPool::Blocked::Blocked() : counts_(HostPoolImpl::block()) {}

HostPool::Blocked::~Blocked()
{
    if (counts_)
        HostPoolImpl::unblock();
}

HostGroupPtr HostGroup::make(unsigned most)
{
    return std::make_shared<HostGroupImpl>(most);
}

bool HostGroup::has_waiting() const
{
    return static_cast<const HostGroupImpl &>(*this).waiting_.load(std::memory_order_relaxed);
}

} // namespace ptsched::device
