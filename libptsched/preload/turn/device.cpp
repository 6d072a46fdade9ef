// SPDX-License-Identifier: MIT
#include "libptsched/preload/turn/device.hpp"

#include "libptsched/base/time_calls.hpp"
#include "libptsched/preload/common/config.hpp"
#include "libptsched/preload/common/debug.hpp"
#include "libptsched/preload/common/thread.hpp"
#include "libptsched/preload/common/warn.hpp"
#include "libptsched/preload/turn/agent_bell.hpp"

#include <cerrno>
#include <new>

namespace ptsched::preload {

namespace {

constexpr std::uint64_t no_memory_nap_ns = 10000000;

constinit std::atomic<bool> warned_gone{false}, warned_lost{false};

/*
 * A turn begins with nothing in flight. If it was contended from its first instant (one event since @before), nothing
 * went through unmeasured either, and there is nothing for the agent to put an end event behind.
 */
void spare_fence(Attachment &device, std::uint32_t before)
{
    std::uint32_t events = __atomic_load_n(&device.page()->events, __ATOMIC_ACQUIRE);
    if (events == before + 1)
        device.begin_measured(events);
}

} // namespace

Device::Device(unsigned index, CUdevice ordinal, const char *address, const char *name)
    : Attachment(index, ordinal, address, name),
      asker(*this, [](Attachment &device) { return static_cast<Device &>(device).get_next_turn(); }),
      preemption(*this, asker)
{
}

/* Whether it was not so before. */
bool Device::go_on_unscheduled()
{
    if (!leave_word())
        return false;
    slots_epoch.fetch_add(1, std::memory_order_release);
    preemption.try_put_back();
    open_for_submissions();
    announce_change();
    return true;
}

void Device::open_gate(const char *why)
{
    open_for_lost_context_.store(false, std::memory_order_release);
    if (go_on_unscheduled())
        warn_once(warned_gone, "running on unscheduled, because %s", why);
}

void Device::open_gate_of_lost_context()
{
    open_for_lost_context_.store(true, std::memory_order_release);
    if (go_on_unscheduled())
        warn_once(warned_lost,
                  "device %s: the driver reports error %d for a context: running on unscheduled until it ends",
                  address(), meter.error());
}

void Device::context_has_ended()
{
    meter.forget_error();
    if (!open_for_lost_context_.exchange(false, std::memory_order_acq_rel))
        return;
    return_to_word();
    slots_epoch.fetch_add(1, std::memory_order_release);
    debug("%s: scheduled again", address());
    wake_agent();
}

void Device::scheduler_is_gone()
{
    /* The client knows why; if it is not gone after all, nothing else of it is of use. */
    struct ptsched_query query;
    int error = ptsched_query(client(), &query);
    open_gate(ptsched_strerror(error ? error : -EPIPE));
}

bool Device::ask_for_turn()
{
    std::uint32_t before = __atomic_load_n(&page()->events, __ATOMIC_ACQUIRE);
    bool free = !(state() & PTSCHED_STATE_TURN) && !preemption.is_off();
    acquiring_.fetch_add(1, std::memory_order_acq_rel);
    std::uint64_t asked = monotonic_ns();
    unsigned flags = tolerates(asked) ? PTSCHED_ACQUIRE_ABOVE : 0;
    int error = ptsched_acquire(client(), PTSCHED_NEVER, flags, nullptr);
    if (!error && free)
        spare_fence(*this, before);
    if (!error)
        linger.came_back(asked, monotonic_ns(), config().linger_ns);
    if (error != -EINTR)
        turn_is_asked_for();
    acquiring_.fetch_sub(1, std::memory_order_acq_rel);
    if (error && error != -EINTR)
        open_gate(ptsched_strerror(error));
    return error != -EINTR;
}

/* The asker's errand. */
bool Device::get_next_turn()
{
    /* Another thread may have asked by now. */
    bool needed =
        preemption.is_off() || ahead_.load(std::memory_order_acquire) || alone_wanted_.load(std::memory_order_acquire);
    if (needed && !ask_for_turn())
        return false;
    /* If it is called back already, the agent does it. */
    try {
        preemption.put_back_in_turn();
        return true;
    } catch (const std::bad_alloc &) {
        nap(no_memory_nap_ns);
        return false;
    }
}

void Device::announce_change()
{
    changes_.fetch_add(1, std::memory_order_release);
    wake_waiters(changes_);
}

void Device::wait_for_change(std::uint32_t seen, std::uint64_t at_most_ns)
{
    wait_while(changes_, seen, at_most_ns);
}

} // namespace ptsched::preload
