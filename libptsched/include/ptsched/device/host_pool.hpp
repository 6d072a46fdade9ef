/* SPDX-License-Identifier: MIT */
/*
 * The threads that do the work of the host, for all graphs of a process: as many as there are processors. Where all of
 * them have been at the same for a while and others wait, there are more, so that functions that wait for something
 * keep nobody from bringing it.
 */
#ifndef PTSCHED_DEVICE_HOST_POOL_HPP
#define PTSCHED_DEVICE_HOST_POOL_HPP

#include <ptsched/base/mutex.hpp>
#include <ptsched/base/time_source.hpp>
#include <ptsched/device/device.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

#pragma GCC visibility push(default)

namespace ptsched::device {

/* What is done piece by piece. */
class HostWork {
public:
    /* One piece. Called by a thread of the pool, once for each time that it was said to be ready. */
    virtual void do_piece() = 0;

protected:
    ~HostWork() = default;
};

/* Work of which so many are at it at once, at most; 0: as many as there are threads. Groups take turns. */
class HostGroup {
public:
    explicit HostGroup(unsigned most) : most_(most) {}
    /* Whether something of it waits for a thread, or for its turn. Any thread may ask. */
    bool has_waiting() const { return waiting_.load(std::memory_order_relaxed); }

private:
    friend class HostPool;
    bool may_begin() const { return !ready_.empty() && (!most_ || busy_ < most_); }

    /* The pool's lock protects all of it. */
    const unsigned most_;
    std::deque<HostWork *> ready_;
    std::atomic<unsigned> waiting_{0}; /* of these */
    unsigned busy_ = 0;
    bool waits_ = false; /* the pool has it in its list */
};
using HostGroupPtr = std::shared_ptr<HostGroup>;

class HostPool {
public:
    /* How long all threads are at the same before there is another one; and how many there are at most. */
    static constexpr std::chrono::milliseconds patience{10};
    static constexpr unsigned most_threads = 1024;

    static HostPool &get();

    /* As long as one lives, a thread of the pool waits for others: another one may do its work. */
    class Blocked {
    public:
        Blocked();
        ~Blocked();
        Blocked(const Blocked &) = delete;
        Blocked &operator=(const Blocked &) = delete;

    private:
        const bool counts_;
    };

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
    static void looks_soon() { looks_soon_ = is_worker_; }
    /* Somebody waits for what is ready, which a thread may have left for later. Does it if there is no thread. */
    void look();
    /* How many there are to be at work at once, at the moment. */
    unsigned at_once() const { return at_once_.load(std::memory_order_relaxed); }

private:
    using Lock = std::unique_lock<std::mutex>;

    HostPool();
    static void renew();
    static bool enters(HostGroup &group);
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
    static std::atomic<HostPool *> current_;
    static thread_local bool is_worker_, is_blocked_, looks_soon_;
};

/* Of what queues of the host throw: what a function did, which is nested. */
class HostFailure : public Error {
public:
    using Error::Error;
};

/* Queues of a group, whose work threads of the pool do, of each queue one at a time. */
std::unique_ptr<Queue> make_host_queue(const HostGroupPtr &group);

} // namespace ptsched::device

#pragma GCC visibility pop

#endif /* PTSCHED_DEVICE_HOST_POOL_HPP */
