/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_SPMD_RUN_WORKERS_HPP
#define PTSCHED_SPMD_RUN_WORKERS_HPP

#include "libptsched/base/lock.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

namespace ptsched::spmd {

/* Threads: a rank's, which map, sort and reduce, or those of a GPU's streams. Thread-safe. */
class Workers {
public:
    /* Called with the worker's number, from 0 on; throws nothing. */
    using Work = std::function<void(unsigned)>;

    /*
     * Who has nothing to do looks for @linger before it sleeps: waking takes long. Throws std::system_error if there
     * cannot be so many.
     */
    explicit Workers(unsigned threads, std::chrono::microseconds linger = {});
    /* After what has been given has been done. */
    ~Workers();
    Workers(const Workers &) = delete;
    Workers &operator=(const Workers &) = delete;

    unsigned threads() const { return static_cast<unsigned>(threads_.size()); }
    /* First come, first served. Does not wait. */
    void give(Work work);

private:
    void run(unsigned number);
    void look(Lock &lock) PTSCHED_REQUIRES(mutex_);
    void end();

    const std::chrono::microseconds linger_;
    Mutex mutex_;
    std::condition_variable changed_;
    std::deque<Work> waiting_ PTSCHED_GUARDED_BY(mutex_);
    bool ends_ PTSCHED_GUARDED_BY(mutex_) = false;
    std::size_t looking_ PTSCHED_GUARDED_BY(mutex_) = 0; /* threads */
    std::atomic<std::size_t> given_{0};                  /* changes when there is something to see */
    std::vector<std::thread> threads_;
};

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_RUN_WORKERS_HPP */
