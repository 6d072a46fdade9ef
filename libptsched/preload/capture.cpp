/* SPDX-License-Identifier: MIT */
#include "capture.hpp"

namespace ptsched::preload {

constinit std::atomic<unsigned> capture_barriers{0};

CaptureBarrier::CaptureBarrier()
{
    capture_barriers.fetch_add(1, std::memory_order_seq_cst);
    for (Thread *thread = first_thread(); thread; thread = thread->next) {
        while (thread->capture_window.load(std::memory_order_seq_cst) & 1)
            sched_yield();
    }
}

} // namespace ptsched::preload
