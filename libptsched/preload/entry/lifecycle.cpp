/* SPDX-License-Identifier: MIT */
/* How the interposer follows its process through fork() and exit(). exec() closes our descriptors and needs nothing. */
#include "libptsched/preload/common/config.hpp"
#include "libptsched/preload/common/immortal.hpp"
#include "libptsched/preload/common/stats.hpp"
#include "libptsched/preload/common/thread.hpp"
#include "libptsched/preload/driver/driver.hpp"
#include "libptsched/preload/loaded/c_library.hpp"
#include "libptsched/preload/meter/capture.hpp"
#include "libptsched/preload/turn/agent.hpp"
#include "libptsched/preload/turn/channels.hpp"
#include "libptsched/preload/turn/device.hpp"
#include "libptsched/preload/turn/helper.hpp"

#include <pthread.h>

#include <cstdlib>
#include <new>

namespace ptsched::preload {

namespace {
constinit Immortal<Process> first_process;
} // namespace

constinit Process *process = &first_process.value;
constinit std::atomic<bool> exiting{false};

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

/*
 * Runs before the driver's own exit handlers, which are older. Work that is still queued ends with the process, whose
 * end also ends the turn; what has been measured is told now. The agent does that: what a driver keeps for the exiting
 * thread may be gone already.
 */
void at_exit()
{
    if (exiting.exchange(true))
        return;
    quiet_agent();
    /* The driver's own exit handlers wait for work in flight. */
    for (Device *device : process->devices())
        device->preemption.try_put_back(*device);
    write_stats(process->submissions());
}

__attribute__((constructor)) void start()
{
    if (has_glibc())
        pthread_atfork(nullptr, nullptr, in_child);
}

} // namespace

void register_exit_handler()
{
    static const int registered = std::atexit(at_exit);
    (void)registered;
}

} // namespace ptsched::preload
