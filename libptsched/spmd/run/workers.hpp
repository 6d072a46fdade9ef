/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_SPMD_RUN_WORKERS_HPP
#define PTSCHED_SPMD_RUN_WORKERS_HPP

#include "libptsched/base/lock.hpp"

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

    /* Throws std::system_error if there cannot be so many. */
    explicit Workers(unsigned threads);
    /* After what has been given has been done. */
    ~Workers();
    Workers(const Workers &) = delete;
    Workers &operator=(const Workers &) = delete;

    unsigned threads() const { return static_cast<unsigned>(threads_.size()); }
    /* First come, first served. Does not wait. */
    void give(Work work);

private:
    void run(unsigned number);
    void end();

    Mutex mutex_;
    std::condition_variable changed_;
    std::deque<Work> waiting_ PTSCHED_GUARDED_BY(mutex_);
    bool ends_ PTSCHED_GUARDED_BY(mutex_) = false;
    std::vector<std::thread> threads_;
};

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_RUN_WORKERS_HPP */
