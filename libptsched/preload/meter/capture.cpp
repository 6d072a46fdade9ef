// SPDX-License-Identifier: MIT
#include "libptsched/preload/meter/capture.hpp"

#include "libptsched/base/time_calls.hpp"

namespace ptsched::preload {

constinit std::atomic<unsigned> capture_barriers{0};

namespace {
constexpr std::uint64_t look_again_ns = 10000;
}

CaptureBarrier::CaptureBarrier()
{
    capture_barriers.fetch_add(1, std::memory_order_seq_cst);
    for (Thread *thread = first_thread(); thread; thread = thread->next) {
        /* Not by yielding: that thread may need this very CPU, on which ours is a real-time one. */
        while (thread->capture_window.load(std::memory_order_seq_cst) & 1)
            nap(look_again_ns);
    }
}

} // namespace ptsched::preload
