// SPDX-License-Identifier: MIT
/* For "ptsched doctor", whose own process is the program on which it is tried what can be enforced on a device. */
#include "libptsched/preload/common/config.hpp"
#include "libptsched/preload/turn/helper.hpp"
#include "libptsched/preload/turn/process.hpp"

#include <cerrno>
#include <cstdio>

using namespace ptsched::preload;

/*
 * The level at which decisions are enforced on the device @ordinal, which a submission of this process has just made
 * known: 0 gate, 1 slice, 2 preempt; -ENOTCONN: it is not scheduled. @helped: ptschedd pulls the switch. @why, of @size
 * bytes: why it is not a better one; empty: there is none. Takes some milliseconds.
 */
extern "C" PTSCHED_EXPORT int ptsched_try_level(int ordinal, int *helped, char *why, std::size_t size)
{
    for (Device *device : process->devices()) {
        if (device->ordinal() != ordinal || !device->scheduled())
            continue;
        device->preemption.find_level();
        Preemption::Found found = device->preemption.found();
        *helped = helper->poll_fd() >= 0;
        std::snprintf(why, size, "%s", found.why.c_str());
        return static_cast<int>(found.level);
    }
    return -ENOTCONN;
}
