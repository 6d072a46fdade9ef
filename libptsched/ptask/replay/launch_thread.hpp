/* SPDX-License-Identifier: MIT */
/*
 * A thread that gives one GPU its sets, in a graph that has several: the driver takes its time for each, and what it
 * does for one GPU does not keep it from working for another.
 */
#ifndef PTSCHED_PTASK_REPLAY_LAUNCH_THREAD_HPP
#define PTSCHED_PTASK_REPLAY_LAUNCH_THREAD_HPP

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace ptsched::ptask {

struct ReplayedSubgraph;

class LaunchThread {
public:
    using Lock = std::unique_lock<std::mutex>;
    /* Gives the set that was taken, with the lock, which it lets go meanwhile. */
    using Give = std::function<void(Lock &, ReplayedSubgraph &)>;

    LaunchThread(std::mutex &mutex, Give give);
    /* Without the lock, when everything was given. */
    ~LaunchThread();
    LaunchThread(const LaunchThread &) = delete;
    LaunchThread &operator=(const LaunchThread &) = delete;

    /*
     * With the lock: it gives the subgraph's set, or it sleeps, and will be awake for those that come soon. To be woken
     * takes longer than to give some: false, then whoever calls this gives the set.
     */
    bool take(ReplayedSubgraph &replayed);

private:
    void run();
    void rest(Lock &lock);

    std::mutex &mutex_; /* protects what follows, but for the next: whether it has reason to look */
    std::atomic<bool> called_ = false;
    const Give give_;
    std::deque<ReplayedSubgraph *> waiting_;
    bool ends_ = false, sleeps_ = false;
    std::condition_variable wanted_;
    std::thread thread_;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_REPLAY_LAUNCH_THREAD_HPP */
