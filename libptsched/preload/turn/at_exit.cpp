// SPDX-License-Identifier: MIT
#include "libptsched/preload/turn/at_exit.hpp"

#include "libptsched/preload/common/exiting.hpp"
#include "libptsched/preload/common/stats.hpp"
#include "libptsched/preload/turn/agent.hpp"
#include "libptsched/preload/turn/process.hpp"

#include <cstdlib>

namespace ptsched::preload {
namespace {

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
        device->preemption.try_put_back();
    write_stats(process->submissions());
}

} // namespace

void register_exit_handler()
{
    static const int registered = std::atexit(at_exit);
    (void)registered;
}

} // namespace ptsched::preload
