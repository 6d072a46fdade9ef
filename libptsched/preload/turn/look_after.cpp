// SPDX-License-Identifier: MIT
/*
 * What a device's turn needs, by the state of the page:
 *
 *   CALLBACK   submitters stop by themselves; wait until the work in flight has drained; release
 *   PREEMPT    the same, but with the work in flight off the hardware, where that is possible and quicker
 *   OUTWEIGHED make the hardware's time slice short, but not BESIDE equals
 *   ABOVE      release as soon as the program is idle: lighter ones have the device from then on
 *   BELOW      what passes is a heavier one's
 *   WANTED     release once the program has been idle for the linger time, with no thread about to submit; a closed
 *              loop keeps its turn
 *   CONTENDED  release after a longer idle time; see that what was queued unmeasured has an end event, so that what is
 *              in flight can be bounded
 *   BESIDE     report now and then
 *
 * It looks at the state anew in every round, so that no order of events can be missed.
 */
#include "libptsched/preload/turn/look_after.hpp"

#include "libptsched/base/time_calls.hpp"
#include "libptsched/preload/common/config.hpp"
#include "libptsched/preload/common/stats.hpp"
#include "libptsched/preload/common/thread.hpp"
#include "libptsched/preload/turn/device.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace ptsched::preload {
namespace {

constexpr std::uint64_t for_ever = kNoLimit;
/* Somebody else is there. */
constexpr std::uint32_t company =
    PTSCHED_STATE_CALLBACK | PTSCHED_STATE_WANTED | PTSCHED_STATE_CONTENDED | PTSCHED_STATE_OUTWEIGHED;
/* By so much longer a program may be idle that nobody waits behind: 20 ms by default. */
constexpr std::uint64_t unwanted_lingers = 128;
/*
 * Of naps while there is work in flight; the longest is so many lingers, where nobody waits for its end and where
 * somebody does.
 */
constexpr std::uint64_t nap_min_ns = 20000, unwanted_nap_lingers = 16, nap_lingers = 2;
/* Where submissions are merely counted, the agent looks so often in the time for which a program lingers. */
constexpr std::uint64_t looks_in_linger = 2;
constexpr std::uint64_t rest_ns = 100000000, end_ns = 1000000;
/* What can be enforced is tried so long after the first submission, where nobody there weighs more. */
constexpr std::uint64_t try_after_ns = 100000000;
/*
 * Who comes at the end of a turn has one in two of what passes then, by guess; equals, which have something to do for
 * half of the time or so, one in four.
 */
constexpr unsigned part_at_end = 2, part_beside = 4, part_below = 1;
/* Beside equals, where a turn has no end: by this the scheduler sees whether that is good for them. */
constexpr std::uint64_t report_beside_ns = 50000000;

/* Takes in what has completed. What has no event gets one once the program has paused, or must. */
void reap(Device &device, std::uint32_t state, std::uint64_t now)
{
    device.meter.reap(now);
    std::uint64_t last = device.last_submit_ns();
    if (state & PTSCHED_STATE_CALLBACK || now > last + config().linger_ns / 2)
        device.meter.fence_tails(now);
}

/* After heavy_barrier(): no thread is submitting to @device on the strength of an older state. */
bool windows_empty(const Device &device)
{
    for (Thread *thread = first_thread(); thread; thread = thread->next) {
        if (thread->window.load(std::memory_order_acquire) & 1 &&
            thread->device.load(std::memory_order_acquire) == &device)
            return false;
    }
    return true;
}

/* How long to look away while there is work in flight; without an estimate, longer and longer. */
std::uint64_t back_off(Device &device, std::uint64_t now, bool wanted = true)
{
    std::uint64_t &nap = device.agent.backoff_ns;
    std::uint64_t longest = (wanted ? nap_lingers : unwanted_nap_lingers) * config().linger_ns;
    nap = std::max(nap + nap / 2, device.meter.in_flight_ns(now) / 2);
    nap = std::max(nap_min_ns, std::min(nap, longest));
    return nap;
}

/*
 * All threads out of their windows, and an end event behind all that they gave the device before. Not needed where
 * everything was measured: it would empty the device for nothing.
 */
bool fence(Device &device, std::uint32_t events, std::uint32_t state)
{
    if (device.all_measured(events, state))
        return true;
    bool unmeasured = device.take_unmeasured();
    heavy_barrier();
    if (!windows_empty(device)) {
        if (unmeasured)
            device.note_unmeasured();
        return false;
    }
    std::uint64_t submissions = device.submissions();
    device.meter.fence_streams();
    device.set_fenced(events, state, submissions);
    device.announce_change();
    return true;
}

void release(Device &device, std::uint64_t now, ptsched_usage usage)
{
    std::uint64_t granted = __atomic_load_n(&device.page()->granted_ns, __ATOMIC_RELAXED);
    std::uint64_t first = device.take_first_submit_ns();
    std::uint64_t busy_until = std::max(device.agent.busy_seen_ns, device.last_submit_ns());
    usage.handover_ns = first > granted ? first - granted : 0;
    if (!device.agent.told_drain && busy_until && now > busy_until)
        usage.handover_ns += now - busy_until;
    device.agent.told_drain = false;
    /* The next turn may begin and end without the agent: it must be woken for its rest. */
    device.end_activity();
    device.waits_no_more_for_host();
    const bool above = device.was_alone_wanted() || device.state() & PTSCHED_STATE_ABOVE;
    counters.above.fetch_add(above, std::memory_order_relaxed);
    device.above.turn_ended({.gpu_ns = device.take_turn_gpu_ns(),
                             .span_ns = first && busy_until > first ? busy_until - first : 0,
                             .submissions = device.submissions(),
                             .above = above},
                            now);
    device.agent.idle_since = 0;
    device.agent.backoff_ns = 0;
    device.agent.demanded_ns = 0;
    device.agent.others_part = 0;
    device.meter.others_leave(now);
    int error = ptsched_release(device.client(), &usage);
    if (error == -EPIPE || error == -EHOSTDOWN || error == -EBADFD)
        device.open_gate(ptsched_strerror(error));
    counters.turns.fetch_add(!error, std::memory_order_relaxed);
}

/* With the gate closed by us or by the scheduler: gives the turn back if nothing is in flight. */
bool try_release(Device &device, std::uint32_t events, std::uint32_t state)
{
    heavy_barrier();
    if (!windows_empty(device) || !fence(device, events, state))
        return false;
    std::uint64_t now = monotonic_ns();
    reap(device, state, now);
    if (!device.meter.idle())
        return false;
    /* No thread submits now. */
    release(device, now, device.take_usage(device.submissions()));
    return true;
}

/* What to acknowledge a call-back with: when the turn will end; 0: not known. */
std::uint64_t promise_ns(Device &device, std::uint32_t events, std::uint32_t state, std::uint64_t now)
{
    if (!(state & PTSCHED_STATE_CALLBACK))
        return 0;
    /* Two programs with short time slices side by side would mostly switch. */
    if (!(state & PTSCHED_STATE_PREEMPT) && device.preemption.time_slice() == TimeSlice::brief)
        return 0;
    std::uint64_t cost = state & PTSCHED_STATE_PREEMPT ? device.preemption.cost_ns() : 0;
    if (cost && device.meter.in_flight_ns(now) > cost)
        return cost;
    if (!device.all_measured(events, state))
        return cost;
    device.meter.reap(now);
    if (device.meter.unknown_in_flight())
        return cost;
    std::uint64_t drain = device.meter.in_flight_ns(now);
    return cost ? std::min(cost, drain) : drain;
}

/* Whether the turn is to end whatever is in flight, and can. */
bool must_leave(Device &device, std::uint32_t state, std::uint64_t now)
{
    if (!(state & PTSCHED_STATE_PREEMPT) || !device.preemption.can_take_off())
        return false;
    std::uint64_t &demanded = device.agent.demanded_ns;
    demanded = demanded ? demanded : now;
    return true;
}

/* Whether by the estimates alone it takes less time to wait for the work in flight than to take it off. */
bool ends_soon(Device &device, std::uint32_t events, std::uint32_t state, std::uint64_t now)
{
    if (!device.all_measured(events, state) || device.meter.unknown_in_flight())
        return false;
    std::uint64_t left = device.meter.in_flight_ns(now), worthwhile = config().drain_ns + device.preemption.cost_ns();
    /* Unless it has been coming to an end for longer than that: the helper may have switched it off meanwhile. */
    bool soon = !left || (config().drain_ns && left < worthwhile);
    return soon && now - device.agent.demanded_ns <= worthwhile;
}

/* Ends a called-back turn with its work in flight off the hardware. */
bool release_off(Device &device)
{
    ptsched_usage usage{};
    heavy_barrier();
    if (!device.preemption.take_off(!windows_empty(device), usage))
        return false;
    release(device, monotonic_ns(), usage);
    device.asker.ask();
    device.announce_change();
    return true;
}

/*
 * Nobody else is there. The program's own threads report as they submit; what is left when they have stopped is
 * reported here. What comes after that begins with a sample: it may take much longer than what was before. Returns
 * after how long to look again.
 */
std::uint64_t report_rest(Device &device, std::uint64_t now)
{
    if (!device.is_active())
        return for_ever;
    std::uint64_t submissions = device.submissions();
    reap(device, device.state(), now);
    /* It may be looked at sooner than that. */
    if (submissions != std::exchange(device.agent.submissions_seen, submissions) || !device.meter.idle())
        device.agent.rests_since = now;
    if (std::uint64_t rested = now - device.agent.rests_since; rested < rest_ns)
        return rest_ns - rested;
    if (device.meter.asks_for_end(submissions))
        return end_ns;
    device.end_activity();
    device.report_rest(submissions);
    device.meter.forget_samples();
    sample_anew();
    return for_ever;
}

/*
 * Of a called-back turn. The driver is asked no more than must be: it may not answer before a thread of the program
 * that holds its locks has its CPU again, which may take long where others have it. Returns after how long to look
 * again.
 */
std::uint64_t end_turn(Device &device, std::uint32_t events, std::uint32_t state, std::uint64_t now)
{
    if (must_leave(device, state, now)) {
        if (!ends_soon(device, events, state, now) && release_off(device))
            return for_ever;
        if (!windows_empty(device))
            return back_off(device, now);
    }
    if (!fence(device, events, state))
        return back_off(device, now);
    reap(device, state, now);
    if (!device.meter.idle()) {
        device.agent.busy_seen_ns = now;
        return back_off(device, now);
    }
    if (!try_release(device, events, state))
        return back_off(device, now);
    device.announce_change();
    return for_ever;
}

/* Whether there was a submission since the last call. */
bool has_submitted(Device &device)
{
    std::uint64_t submissions = device.submissions();
    return submissions != std::exchange(device.agent.submissions_seen, submissions);
}

/* Of a turn that others want, or could use if they were there. Returns after how long to look again. */
std::uint64_t leave_when_idle(Device &device, std::uint32_t events, std::uint32_t state, std::uint64_t now)
{
    Device::AgentState &own = device.agent;
    /* Nobody could run now. But who stays idle must not count as a user of the device for ever. */
    bool above = state & PTSCHED_STATE_ABOVE, wanted = above || state & PTSCHED_STATE_WANTED;
    bool by_samples = !(state & PTSCHED_STATE_EXACT);
    std::uint64_t linger_ns = above    ? 0
                              : wanted ? device.linger.ns(config().linger_ns)
                                       : unwanted_lingers * config().linger_ns;
    /* Who submits is not idle: the driver, which the program needs meanwhile, is asked only after that. */
    if (by_samples && has_submitted(device)) {
        own.busy_seen_ns = now;
        own.backoff_ns = own.idle_since = 0;
        return std::max(linger_ns, config().linger_ns) / looks_in_linger;
    }
    /*
     * What was measured tells as well, without a fence, for which submissions would wait. But behind work that has
     * ended a fence would be work by itself, and have the device switch from who is below.
     */
    reap(device, state, now);
    if (above || device.meter.idle()) {
        if (!fence(device, events, state))
            return back_off(device, now);
        reap(device, state, now);
    }
    bool idle = device.meter.idle();
    if (!idle)
        own.busy_seen_ns = now;
    if (!idle || device.holds_back()) {
        own.idle_since = 0;
        return !idle && (wanted || device.meter.unknown_in_flight()) ? back_off(device, now, wanted) : linger_ns;
    }
    own.idle_since = std::max(own.idle_since ? own.idle_since : now, device.last_submit_ns());
    std::uint64_t idle_since = own.idle_since, passed = now > idle_since ? now - idle_since : 0;
    if (passed < linger_ns)
        return linger_ns - passed;

    device.close_to_submissions();
    device.linger.left(idle_since);
    bool released = try_release(device, events, state);
    if (!released)
        device.linger.left(0);
    device.open_for_submissions();
    device.announce_change();
    return released ? for_ever : back_off(device, now);
}

/*
 * Tries what can be enforced, in time: that has the program's work off the hardware for some milliseconds. The first
 * launch of a newcomer for which others are called back does not wait for it, and who is alone has it done before
 * others come. Returns after how long to look again.
 */
std::uint64_t find_level(Device &device, std::uint32_t state, std::uint64_t now)
{
    std::uint64_t &since = device.agent.here_since;
    since = since ? since : now;
    const bool threatened = state & (PTSCHED_STATE_CALLBACK | PTSCHED_STATE_OUTWEIGHED);
    if (!device.preemption.was_tried() && !threatened && now - since < try_after_ns)
        return since + try_after_ns - now;
    device.preemption.find_level();
    return for_ever;
}

/* What is measured beside others is not all its own. */
void look_for_company(Device &device, std::uint32_t state, std::uint64_t now)
{
    const unsigned part = state & PTSCHED_STATE_BELOW ? part_below : state & PTSCHED_STATE_BESIDE ? part_beside : 0;
    if (part == std::exchange(device.agent.others_part, part))
        return;
    device.meter.others_leave(now);
    if (part)
        device.meter.others_come(now, part);
}

/* Two with short slices side by side would mostly switch. Who is above others is to keep the device. */
TimeSlice wanted_slice(const Device &device, std::uint32_t state)
{
    if (state & PTSCHED_STATE_OUTWEIGHED)
        return state & PTSCHED_STATE_BESIDE ? TimeSlice::usual : TimeSlice::brief;
    const bool lasting = device.preemption.time_slice() == TimeSlice::lasting;
    const bool good = lasting ? device.above.is_bearable() : device.above.is_good();
    return state & company && good ? TimeSlice::lasting : TimeSlice::usual;
}

} // namespace

std::uint64_t look_after(Device &device)
{
    std::uint32_t events = __atomic_load_n(&device.page()->events, __ATOMIC_ACQUIRE);
    std::uint32_t state = device.state();
    std::uint64_t now = monotonic_ns();
    Device::AgentState &own = device.agent;

    if (state & PTSCHED_STATE_DEAD) {
        device.scheduler_is_gone();
        return for_ever;
    }
    if (device.meter.broken()) {
        /* Nothing of that context runs: others need not wait. */
        device.open_gate_of_lost_context();
        release(device, now, device.take_usage(device.submissions()));
        return for_ever;
    }
    std::uint64_t promise = 0;
    if (own.acknowledged.acknowledge(device.client(), events,
                                     [&] { return promise = promise_ns(device, events, state, now); })) {
        own.told_drain = promise != 0;
        if (promise)
            device.meter.others_come(now + promise, part_at_end);
        own.backoff_ns = 0;
        device.announce_change();
    }
    /* Who waited for the end of this turn has been let in before that. */
    if (own.told_drain && (state & (PTSCHED_STATE_CALLBACK | PTSCHED_STATE_WANTED)) == PTSCHED_STATE_CALLBACK)
        device.meter.others_come(now, part_at_end);
    if (!(state & PTSCHED_STATE_TURN)) {
        own.idle_since = 0;
        return for_ever;
    }
    look_for_company(device, state, now);
    if (device.preemption.is_off() && state & company)
        device.preemption.put_back();
    const std::uint64_t try_within = find_level(device, state, now);
    device.preemption.adjust_slice(wanted_slice(device, state));
    if (!(state & (company & ~PTSCHED_STATE_OUTWEIGHED))) {
        own.idle_since = 0;
        return std::min(try_within, report_rest(device, now));
    }
    /*
     * A turn has begun, and the thread that waited for it has not come round to it yet. (Of a called-back turn, it may
     * be waiting for the next one.)
     */
    if (!(state & PTSCHED_STATE_CALLBACK) && device.is_asked_for())
        return config().linger_ns;
    if (state & PTSCHED_STATE_CALLBACK)
        return end_turn(device, events, state, now);
    if (state & PTSCHED_STATE_BESIDE)
        device.report(now, report_beside_ns);
    return std::min(try_within, leave_when_idle(device, events, state, now));
}

} // namespace ptsched::preload
