/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_DEVICE_INSIDE_HOST_POOL_HPP
#define PTSCHED_DEVICE_INSIDE_HOST_POOL_HPP

#include "libptsched/base/lock.hpp"
#include <ptsched/base/chrono_clock.hpp>
#include <ptsched/device/host_pool.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>

namespace ptsched::device {

/* What is done piece by piece. */
class HostWork {
public:
    /* One piece. Called by a thread of the pool, once for each time that it was said to be ready. */
    virtual void do_piece() = 0;

protected:
    ~HostWork() = default;
};

/* What the insides know of a group. The pool's lock protects all of it. */
struct HostGroupImpl final : HostGroup {
    explicit HostGroupImpl(unsigned most) : most_(most) {}
    bool may_begin() const { return !ready_.empty() && (!most_ || busy_ < most_); }

    const unsigned most_;
    std::deque<HostWork *> ready_;
    std::atomic<unsigned> waiting_{0}; /* of these; read without the lock */
    unsigned busy_ = 0;
    bool waits_ = false; /* the pool has it in its list */
};

inline HostGroupImpl &impl(HostGroup &group)
{
    return static_cast<HostGroupImpl &>(group);
}

/* What the insides know of the pool. */
class HostPoolImpl final : public HostPool {
public:
    static HostPoolImpl &get();

    /* A thread that has nothing else to do may do work of a group, as one of those that are at it. */
    class Guest {
    public:
        explicit Guest(const HostGroupPtr &group);
        ~Guest();
        Guest(const Guest &) = delete;
        Guest &operator=(const Guest &) = delete;
        bool may_work() const { return may_work_; }

    private:
        const HostGroupPtr &group_;
        const bool may_work_;
    };

    /* Throws Error if there is no thread and none can be made: then look() does it. */
    void ready(const HostGroupPtr &group, HostWork &work);
    /* The calling thread, if it is one of the pool, looks for work soon: the next that becomes ready needs no other. */
    static void looks_soon();
    /* Somebody waits for what is ready, which a thread may have left for later. Does it if there is no thread. */
    void look();
    unsigned at_once() const { return at_once_.load(std::memory_order_relaxed); }
    /* Of the calling thread, which waits for others from now on, or does no more; whether it is one of the pool's. */
    static bool block();
    static void unblock();

private:
    HostPoolImpl();
    static void renew();
    static bool enters(HostGroupImpl &group);
    void leaves(const HostGroupPtr &group);
    void work();
    void do_one(Lock &lock) PTSCHED_REQUIRES(mutex_);
    bool rest(Lock &lock) PTSCHED_REQUIRES(mutex_);
    void watch(Lock &lock) PTSCHED_REQUIRES(mutex_);
    void list(const HostGroupPtr &group) PTSCHED_REQUIRES(mutex_);
    bool wake() PTSCHED_REQUIRES(mutex_);
    bool start_thread() PTSCHED_REQUIRES(mutex_);
    void count(unsigned &what, int more) PTSCHED_REQUIRES(mutex_);

    const unsigned processors_;
    std::atomic<unsigned> at_once_;
    Mutex mutex_;
    std::condition_variable changed_;
    std::deque<HostGroupPtr> groups_ PTSCHED_GUARDED_BY(mutex_); /* that have something ready and may begin it */
    unsigned threads_ PTSCHED_GUARDED_BY(mutex_) = 0, idle_ PTSCHED_GUARDED_BY(mutex_) = 0;
    unsigned busy_ PTSCHED_GUARDED_BY(mutex_) = 0;
    unsigned blocked_ PTSCHED_GUARDED_BY(mutex_) = 0;       /* that wait for others, and say so */
    unsigned grown_ PTSCHED_GUARDED_BY(mutex_) = 0;         /* that others had to make up for */
    bool watched_ PTSCHED_GUARDED_BY(mutex_) = false;       /* one of those that are idle looks after a while */
    Clock::time_point begun_at_ PTSCHED_GUARDED_BY(mutex_); /* when something was begun last */
    static std::atomic<HostPoolImpl *> current_;
    static thread_local bool is_worker_, is_blocked_, looks_soon_;
};

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_INSIDE_HOST_POOL_HPP */
