// SPDX-License-Identifier: MIT
#include "libptsched/ptask/replay/launch_thread.hpp"

#include "libptsched/base/no_signals.hpp"
#include "libptsched/ptask/time/naps.hpp"
#include <ptsched/device/device.hpp>

#include <utility>

namespace ptsched::ptask {

LaunchThread::LaunchThread(Mutex &mutex, Give give) : mutex_(mutex), give_(std::move(give))
{
    NoSignals for_it;
    thread_ = std::thread([this] { run(); });
}

LaunchThread::~LaunchThread()
{
    {
        Lock lock(mutex());
        ends_ = true;
        called_ = true;
        wanted_.notify_one();
    }
    thread_.join();
}

bool LaunchThread::take(ReplayedSubgraph &replayed)
{
    const bool called = called_.exchange(true);
    if (!sleeps_) {
        waiting_.push_back(&replayed);
        return true;
    }
    if (!called)
        wanted_.notify_one();
    return false;
}

void LaunchThread::run()
{
    device::adopt_thread();
    Lock lock(mutex());
    while (!ends_) {
        if (waiting_.empty()) {
            rest(lock);
            continue;
        }
        ReplayedSubgraph &replayed = *waiting_.front();
        waiting_.pop_front();
        give_(lock, replayed);
    }
}

/* At first without the lock, for which others would have to wait. */
void LaunchThread::rest(Lock &lock)
{
    called_ = false;
    {
        Unlocked unlocked(lock, mutex());
        for (Naps naps; !called_ && naps.worth_a_yield();)
            std::this_thread::yield();
    }
    sleeps_ = true;
    wanted_.wait(lock, [this] { return called_.load(); });
    sleeps_ = false;
}

} // namespace ptsched::ptask
