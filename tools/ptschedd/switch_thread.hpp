/* SPDX-License-Identifier: MIT */
/*
 * A thread for the driver's calls, each of which takes some tenths of a millisecond:
 * nobody's turn waits for them.
 */
#ifndef PTSCHEDD_SWITCH_THREAD_HPP
#define PTSCHEDD_SWITCH_THREAD_HPP

#include "libptsched/base/lock.hpp"
#include "tools/ptschedd/event_loop.hpp"
#include <ptsched/base/fd.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace ptsched {

/* Compute channels of one of the driver's clients on one device. */
struct ChannelSet {
    std::shared_ptr<const UniqueFd> file; /* the process's control file, of a FileCloser */
    std::uint32_t client = 0, subdevice = 0;
    std::vector<std::uint32_t> channels;
};

class SwitchThread {
public:
    /* What to do with the channels before it lets go of their files. */
    enum class Action { off, on, none };
    /* Called on the event loop's thread; 0 or -EIO. */
    using Done = std::function<void(int result)>;

    explicit SwitchThread(EventLoop &loop);
    /* Finishes what was given to it; nobody is told of that any more. */
    ~SwitchThread();

    void give(std::vector<ChannelSet> sets, Action action, Done done);
    /* The CPU of somebody who is not to lose it to this thread; -1: of nobody. */
    void stay_off(int cpu) { cpu_to_leave_.store(cpu, std::memory_order_relaxed); }

private:
    struct Job {
        std::vector<ChannelSet> sets;
        Action action;
        Done done;
        int result;
    };

    void work();
    void finish();

    EventLoop &loop_;
    UniqueFd finished_fd_;
    std::uint64_t key_;
    Mutex lock_;
    std::condition_variable given_;
    std::deque<Job> jobs_ PTSCHED_GUARDED_BY(lock_);
    std::vector<Job> finished_ PTSCHED_GUARDED_BY(lock_);
    bool stopping_ PTSCHED_GUARDED_BY(lock_) = false;
    std::atomic<int> cpu_to_leave_{-1};
    std::thread thread_;
};

} // namespace ptsched

#endif
