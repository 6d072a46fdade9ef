// SPDX-License-Identifier: MIT
#include "libptsched/preload/turn/attach.hpp"

#include "libptsched/preload/common/debug.hpp"
#include "libptsched/preload/common/thread.hpp"
#include "libptsched/preload/common/warn.hpp"
#include "libptsched/preload/driver/driver.hpp"
#include "libptsched/preload/loaded/unwinder.hpp"
#include "libptsched/preload/turn/agent.hpp"
#include "libptsched/preload/turn/agent_bell.hpp"
#include "libptsched/preload/turn/at_exit.hpp"
#include "libptsched/preload/turn/mps.hpp"
#include "libptsched/preload/turn/process.hpp"

#include <cerrno>
#include <new>

namespace ptsched::preload {
namespace {

constinit std::atomic<bool> warned_absent{false}, warned_refused{false};

void become_client(Device &device)
{
    ask_for_heavy_barrier();
    watch_thread_ends([](const Thread &thread) { process->thread_ends(thread); });
    register_exit_handler();
    load_unwinder();
    if (!driver.usable()) {
        warn_once(warned_refused, "running unscheduled, because this CUDA driver lacks calls that scheduling needs");
        return;
    }
    process->close_inherited();
    ptsched_client *client = nullptr;
    int error = ptsched_open(device.name(), PTSCHED_MECHANISM_GATE, PTSCHED_BACKEND_AUTO, &client);
    if (error) {
        warn_once(error == -ENODEV || error == -EPROTO ? warned_refused : warned_absent,
                  "running unscheduled on device %s, because %s", device.name(), ptsched_strerror(error));
        return;
    }
    if (!start_agent()) {
        ptsched_close(client);
        warn_once(warned_refused, "running unscheduled, because no thread can be started");
        return;
    }
    device.become_client(client, is_mps_client());
    debug("attached to %s", device.name());
    wake_agent();
}

void get_ready(Context &context)
{
    Device &device = *context.device;
    attach(device);
    if (!device.scheduled())
        return;
    CaptureModeScope relaxed;
    device.meter.get_ready(context);
}

} // namespace

void attach(Device &device)
{
    device.attach_once([&device] { become_client(device); });
}

void context_begins(CUcontext handle, bool created)
{
    if (process->find_context(handle))
        return;
    try {
        process->note_context(handle, created);
        if (this_thread && this_thread->is_exempt())
            return;
        if (Context *context = process->find_or_add_context(handle))
            get_ready(*context);
    } catch (const std::bad_alloc &) {
        /* It is taken for a primary one; the first submission finds what there is. */
    }
}

} // namespace ptsched::preload
