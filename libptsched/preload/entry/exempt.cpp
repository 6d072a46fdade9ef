// SPDX-License-Identifier: MIT
/* For libraries in the program that keep the scheduler's rules themselves. */
#include "libptsched/preload/common/config.hpp"
#include "libptsched/preload/common/thread.hpp"

using namespace ptsched::preload;

/*
 * From here on, until the same with 0, submissions of the calling thread go straight to the driver, neither gated nor
 * measured. It looks like one submission, to no device, that takes as long: the agent waits for none such. Returns
 * whether it was so before.
 */
extern "C" PTSCHED_EXPORT int ptsched_preload_exempt(int yes)
{
    Thread *thread = get_thread();
    if (!thread)
        return 0;
    std::uint64_t window = thread->window.load(std::memory_order_relaxed);
    int before = window & 1;
    if (before != (yes != 0)) {
        thread->device.store(nullptr, std::memory_order_relaxed);
        thread->opened_at = nullptr;
        thread->window.store(window + 1, std::memory_order_release);
    }
    return before;
}
