/* SPDX-License-Identifier: MIT */
/*
 * Threads of the host that do what kernels call. One of them looks for calls and does them itself, so that no call
 * passes from one thread to another; before it does what may wait, another one goes on looking.
 */
#ifndef PTSCHED_ARENA_CALL_SERVER_HPP
#define PTSCHED_ARENA_CALL_SERVER_HPP

#include "libptsched/base/sleepers.hpp"

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace ptsched::arena::detail {

class Server {
public:
    /* @look does what there is, and says whether there was something. It is called by one thread at a time. */
    Server(std::function<bool(Server &)> look, unsigned most_threads);
    ~Server() { stop(); }
    Server(const Server &) = delete;
    Server &operator=(const Server &) = delete;

    /* Waits for what is being done; nobody looks any more. */
    void stop();

    /* While a call has begun that may call the host. Any thread. */
    void begin()
    {
        begun_.fetch_add(1, std::memory_order_relaxed);
        news_.wake();
    }
    void end() { begun_.fetch_sub(1, std::memory_order_relaxed); }

    /* Whether the calling thread is the one that looks. */
    bool is_looking() const;
    /*
     * By that one, within look(): another one looks from now on, and this does nothing more of look() than what it is
     * at. False if there are as many threads as may be, and none of them is free.
     */
    bool hand_over();
    unsigned most_threads() const { return most_threads_; }

private:
    void work();
    void look_on();
    bool rest(unsigned idle_rounds);
    bool take_over();

    const std::function<bool(Server &)> look_;
    const unsigned most_threads_;
    std::atomic<unsigned> begun_{0};
    std::atomic<bool> somebody_looks_{false}, stops_{false};
    std::atomic<unsigned> free_{0}; /* threads that would look */
    Sleepers news_, crew_;
    Mutex mutex_;
    std::vector<std::thread> threads_ PTSCHED_GUARDED_BY(mutex_);
};

} // namespace ptsched::arena::detail

#endif /* PTSCHED_ARENA_CALL_SERVER_HPP */
