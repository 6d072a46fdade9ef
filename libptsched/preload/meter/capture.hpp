/* SPDX-License-Identifier: MIT */
/*
 * Keeps the agent's event records out of the graphs that the program captures.
 *
 * A call that may begin a capture marks the calling thread and looks whether somebody is at recording; a CaptureBarrier
 * announces that somebody is, and waits for the marked threads. Such calls are short and wait for nobody.
 */
#ifndef PTSCHED_PRELOAD_METER_CAPTURE_HPP
#define PTSCHED_PRELOAD_METER_CAPTURE_HPP

#include "libptsched/preload/common/thread.hpp"

#include <sched.h>

namespace ptsched::preload {

extern std::atomic<unsigned> capture_barriers;

class CaptureBarrier {
public:
    CaptureBarrier();
    ~CaptureBarrier() { capture_barriers.fetch_sub(1, std::memory_order_release); }
    CaptureBarrier(const CaptureBarrier &) = delete;
    CaptureBarrier &operator=(const CaptureBarrier &) = delete;
};

class CaptureWindow {
public:
    explicit CaptureWindow(Thread *thread) : thread_(thread)
    {
        if (thread_ && thread_->capture_window.load(std::memory_order_relaxed) & 1)
            thread_ = nullptr; /* the driver calls itself */
        while (thread_) {
            thread_->capture_window.fetch_add(1, std::memory_order_seq_cst);
            if (!capture_barriers.load(std::memory_order_seq_cst))
                return;
            thread_->capture_window.fetch_add(1, std::memory_order_release);
            sched_yield();
        }
    }
    ~CaptureWindow()
    {
        if (thread_)
            thread_->capture_window.fetch_add(1, std::memory_order_release);
    }
    CaptureWindow(const CaptureWindow &) = delete;
    CaptureWindow &operator=(const CaptureWindow &) = delete;

private:
    Thread *thread_;
};

} // namespace ptsched::preload

#endif
