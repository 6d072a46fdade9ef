// SPDX-License-Identifier: MIT
/* How the interposer follows its process through fork(). exec() closes our descriptors and needs nothing. */
#include "libptsched/preload/common/stats.hpp"
#include "libptsched/preload/common/thread.hpp"
#include "libptsched/preload/driver/driver.hpp"
#include "libptsched/preload/loaded/c_library.hpp"
#include "libptsched/preload/meter/capture.hpp"
#include "libptsched/preload/turn/agent.hpp"
#include "libptsched/preload/turn/channels.hpp"
#include "libptsched/preload/turn/helper.hpp"
#include "libptsched/preload/turn/process.hpp"

#include <new>
#include <pthread.h>

namespace ptsched::preload {
namespace {

/*
 * The child has the parent's memory but neither its threads nor its turn. What the parent kept is left behind, locks
 * that some thread may have held included; the clients are closed before the child opens its own, not here, where the
 * client library's locks may be held too.
 */
void in_child()
{
    const Process *parent = process;
    process = new Process;
    channels->forget();
    helper->forget();
    new (&counters) Counters{};
    process->inherit(parent);
    driver.reset_lock();
    forget_heavy_barrier();
    forget_agent();
    forget_other_threads();
    /* The parent's agent may have been at recording. */
    capture_barriers.store(0, std::memory_order_relaxed);
    /* The parent's next sample may be far. */
    sample_anew();
}

__attribute__((constructor)) void start()
{
    if (has_glibc())
        pthread_atfork(nullptr, nullptr, in_child);
}

} // namespace
} // namespace ptsched::preload
