/* SPDX-License-Identifier: MIT */
/*
 * A thread that gives one GPU its sets, in a graph that has several: the driver takes its time for each, and what it
 * does for one GPU does not keep it from working for another.
 */
#ifndef PTSCHED_PTASK_REPLAY_LAUNCH_THREAD_HPP
#define PTSCHED_PTASK_REPLAY_LAUNCH_THREAD_HPP

#include "libptsched/ptask/graph/graph_lock.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <thread>

namespace ptsched::ptask {

struct ReplayedSubgraph;

class LaunchThread {
public:
    /* Gives the set that was taken, with the lock, which it lets go meanwhile. */
    using Give = std::function<void(Lock &, ReplayedSubgraph &)>;

    LaunchThread(Mutex &mutex, Give give);
    /* When everything was given. */
    ~LaunchThread() PTSCHED_EXCLUDES(graph_lock);
    LaunchThread(const LaunchThread &) = delete;
    LaunchThread &operator=(const LaunchThread &) = delete;

    /*
     * It gives the subgraph's set, or it sleeps, and will be awake for those that come soon. To be woken takes longer
     * than to give some: false, then whoever calls this gives the set.
     */
    bool take(ReplayedSubgraph &replayed) PTASK_LOCKED;

private:
    void run();
    void rest(Lock &lock) PTASK_LOCKED;
    Mutex &mutex() PTSCHED_RETURNS_LOCK(graph_lock) { return mutex_; }

    Mutex &mutex_;
    std::atomic<bool> called_ = false; /* it has reason to look */
    const Give give_;
    std::deque<ReplayedSubgraph *> waiting_ PTASK_GUARDED;
    bool ends_ PTASK_GUARDED = false, sleeps_ PTASK_GUARDED = false;
    std::condition_variable wanted_;
    std::thread thread_;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_REPLAY_LAUNCH_THREAD_HPP */
