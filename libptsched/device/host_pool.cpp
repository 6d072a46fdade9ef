// SPDX-License-Identifier: MIT
#include "host_pool.hpp"

#include <algorithm>
#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

namespace ptsched::device {

namespace {

/* Threads that are not needed any more stay that long. */
constexpr std::chrono::seconds linger{2};

/* Signals are the program's: a thread that is made as long as this lives gets none. */
class WithoutSignals {
public:
    WithoutSignals()
    {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    WithoutSignals(const WithoutSignals &) = delete;
    WithoutSignals &operator=(const WithoutSignals &) = delete;

private:
    sigset_t before_;
};

} // namespace

thread_local bool HostPool::is_worker_, HostPool::looks_soon_;

HostPool &HostPool::get()
{
    /* For good, as devices are. */
    static HostPool &pool = *new HostPool;
    return pool;
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
    std::lock_guard lock(mutex_);
    group->ready_.push_back(&work);
    list(group);
    if (!std::exchange(looks_soon_, false))
        wake();
}

void HostPool::look()
{
    std::lock_guard lock(mutex_);
    wake();
}

/* One more thread for what may begin, or to watch over those that have the time. */
void HostPool::wake()
{
    if (groups_.empty() || (busy_ >= at_once() && watched_))
        return;
    if (idle_)
        changed_.notify_one();
    else if (threads_ <= at_once())
        start_thread();
}

void HostPool::start_thread()
{
    WithoutSignals none;
    threads_++;
    try {
        std::thread(&HostPool::work, this).detach();
    } catch (const std::system_error &) {
        /* Those that there are do it, later. */
        if (!--threads_)
            throw;
    }
}

void HostPool::work()
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

void HostPool::do_one(Lock &lock)
{
    const HostGroupPtr group = std::move(groups_.front());
    groups_.pop_front();
    group->waits_ = false;
    HostWork &work = *group->ready_.front();
    group->ready_.pop_front();
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

HostPool::Blocked::Blocked() : counts_(is_worker_)
{
    if (!counts_)
        return;
    HostPool &pool = get();
    std::lock_guard lock(pool.mutex_);
    pool.count(pool.blocked_, 1);
    pool.wake();
}

HostPool::Blocked::~Blocked()
{
    if (!counts_)
        return;
    HostPool &pool = get();
    std::lock_guard lock(pool.mutex_);
    pool.count(pool.blocked_, -1);
}

} // namespace ptsched::device
