// SPDX-License-Identifier: MIT
#include "libptsched/client/broker_watch.hpp"

#include "libptsched/base/lock.hpp"
#include "libptsched/base/no_signals.hpp"
#include "libptsched/base/time_calls.hpp"
#include "libptsched/client/broker_socket.hpp"

#include <atomic>
#include <chrono>
#include <new>
#include <pthread.h>
#include <unistd.h>
#include <utility>

namespace ptsched {
namespace {

/* So often it looks within a connection's patience. It counts looks, and not time, since the process may be stopped. */
constexpr unsigned kLooks = 4;

constexpr std::uint64_t kIntervalNs = std::chrono::nanoseconds(kBrokerPatience).count() / kLooks;

} // namespace

/* Of one process; it is never destroyed, and a forked child, where its lock may be held for ever, gets another. */
class BrokerWatcher {
public:
    explicit BrokerWatcher(pid_t owner) : owner_(owner) {}

    static BrokerWatcher *of_this_process();
    void add(BrokerWatch &watch);
    void remove(BrokerWatch &watch);

private:
    static void *run(void *watcher);
    bool start() PTSCHED_REQUIRES(mutex_);
    void look();
    static void look_at(BrokerWatch &watch);

    static constinit std::atomic<BrokerWatcher *> current_;

    const pid_t owner_;
    std::atomic<std::uint32_t> needed_{0}; /* so often it was woken */
    std::atomic<std::uint32_t> never_{0};  /* nobody wakes it from this sleep */
    Mutex mutex_;
    BrokerWatch *watches_ PTSCHED_GUARDED_BY(mutex_) = nullptr;
    bool started_ PTSCHED_GUARDED_BY(mutex_) = false;
    bool asleep_ PTSCHED_GUARDED_BY(mutex_) = false;
    bool used_ PTSCHED_GUARDED_BY(mutex_) = false;
};

constinit std::atomic<BrokerWatcher *> BrokerWatcher::current_{nullptr};

/* Null: there is no memory. */
BrokerWatcher *BrokerWatcher::of_this_process()
{
    const pid_t self = getpid();
    BrokerWatcher *watcher = current_.load(std::memory_order_acquire);
    if (watcher && watcher->owner_ == self)
        return watcher;
    auto *made = new (std::nothrow) BrokerWatcher(self);
    if (made && !current_.compare_exchange_strong(watcher, made, std::memory_order_acq_rel)) {
        delete made;
        made = watcher;
    }
    return made;
}

bool BrokerWatcher::start()
{
    NoSignals for_it;
    pthread_t thread;
    const bool started = pthread_create(&thread, nullptr, run, this) == 0;
    if (started)
        pthread_detach(thread);
    return started;
}

void BrokerWatcher::add(BrokerWatch &watch)
{
    Guard lock(mutex_);
    started_ = started_ || start();
    used_ = true;
    watch.next_ = watches_;
    watch.link_ = &watches_;
    if (watches_)
        watches_->link_ = &watch.next_;
    watches_ = &watch;
    if (!std::exchange(asleep_, false))
        return;
    needed_++;
    wake_waiters(needed_);
}

void BrokerWatcher::remove(BrokerWatch &watch)
{
    Guard lock(mutex_);
    *watch.link_ = watch.next_;
    if (watch.next_)
        watch.next_->link_ = watch.link_;
}

void *BrokerWatcher::run(void *watcher)
{
    pthread_setname_np(pthread_self(), "ptsched-watch");
    static_cast<BrokerWatcher *>(watcher)->look();
    return nullptr;
}

/*
 * Where waits are many and short, it is not woken for each of them: it goes to sleep only after there was none for a
 * whole interval.
 */
void BrokerWatcher::look()
{
    for (;;) {
        const std::uint32_t woken = needed_;
        bool needed;
        {
            Guard lock(mutex_);
            needed = watches_ || std::exchange(used_, false);
            asleep_ = !needed;
        }
        if (!needed)
            wait_while(needed_, woken, kNoLimit);
        const std::uint64_t next_ns = monotonic_ns() + kIntervalNs;
        for (std::uint64_t now_ns; (now_ns = monotonic_ns()) < next_ns;)
            wait_while(never_, 0, next_ns - now_ns);
        Guard lock(mutex_);
        for (BrokerWatch *watch = watches_; watch; watch = watch->next_)
            look_at(*watch);
    }
}

void BrokerWatcher::look_at(BrokerWatch &watch)
{
    WatchedConnection &connection = watch.connection_;
    const std::uint64_t heard = connection.heard();
    if (watch.asked_ && heard == watch.heard_) {
        if (++watch.silent_ == kLooks)
            connection.give_up();
        return;
    }
    watch.silent_ = 0;
    watch.heard_ = heard;
    watch.asked_ = !std::exchange(watch.is_new_, false);
    if (watch.asked_)
        connection.ask_for_sign();
}

BrokerWatch::BrokerWatch(WatchedConnection &connection)
    : connection_(connection), watcher_(BrokerWatcher::of_this_process())
{
    if (watcher_)
        watcher_->add(*this);
}

BrokerWatch::~BrokerWatch()
{
    if (watcher_)
        watcher_->remove(*this);
}

} // namespace ptsched
