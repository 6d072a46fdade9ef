/* SPDX-License-Identifier: MIT */
/*
 * One thread per process, which sleeps in poll() until the scheduler wants something of a turn:
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
#include "libptsched/preload/turn/agent.hpp"

#include "libptsched/base/be_prompt.hpp"
#include "libptsched/base/clock.hpp"
#include "libptsched/base/doorbell.hpp"
#include "libptsched/base/no_cancellation.hpp"
#include "libptsched/preload/common/config.hpp"
#include "libptsched/preload/common/immortal.hpp"
#include "libptsched/preload/common/stats.hpp"
#include "libptsched/preload/common/thread.hpp"
#include "libptsched/preload/driver/driver.hpp"
#include "libptsched/preload/turn/device.hpp"
#include "libptsched/preload/turn/helper.hpp"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

namespace ptsched::preload {
namespace {

constexpr std::uint64_t for_ever = kNoLimit;
/* Somebody else is there. */
constexpr std::uint32_t company =
    PTSCHED_STATE_CALLBACK | PTSCHED_STATE_WANTED | PTSCHED_STATE_CONTENDED | PTSCHED_STATE_OUTWEIGHED;
/* By so much longer a program may be idle that nobody waits behind: 20 ms by default. */
constexpr std::uint64_t unwanted_lingers = 128;
/* Of naps while there is work in flight; the longest is so many lingers, where nobody waits for its end and where
 * somebody does. */
constexpr std::uint64_t nap_min_ns = 20000, unwanted_nap_lingers = 16, nap_lingers = 2;
constexpr std::uint64_t long_nap_ns = 100000;
/* Where submissions are merely counted, the agent looks so often in the time for which a program lingers. */
constexpr std::uint64_t looks_in_linger = 2;
constexpr std::uint64_t no_memory_nap_ns = 10000000, no_bell_nap_ns = 10000000;
constexpr std::uint64_t rest_ns = 100000000, end_ns = 1000000;
/* What can be enforced is tried so long after the first submission, where nobody there weighs more. */
constexpr std::uint64_t try_after_ns = 100000000;
/* Who comes at the end of a turn has one in two of what passes then, by guess; equals, which have something to do for
 * half of the time or so, one in four. */
constexpr unsigned part_at_end = 2, part_beside = 4, part_below = 1;
/* Beside equals, where a turn has no end: by this the scheduler sees whether that is good for them. */
constexpr std::uint64_t report_beside_ns = 50000000;
/* An exit waits so long for the last report. */
constexpr std::uint64_t quiet_ns = 100000000;

struct Agent {
    std::mutex lock;
    bool started{false};
    Doorbell bell;
    std::atomic<bool> napping{false};    /* asleep for longer than long_nap_ns */
    std::atomic<std::uint32_t> quiet{0}; /* seen exiting: no more calls from here */
};

constinit Immortal<Agent> first_agent;
constinit Agent *agent = &first_agent.value;

/* Takes in what has completed. What has no event gets one once the program has paused, or must. */
void reap(Device &device, std::uint32_t state, std::uint64_t now)
{
    device.meter.reap(now);
    std::uint64_t last = device.last_submit_ns.load(std::memory_order_relaxed);
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
    bool unmeasured = device.unmeasured.exchange(false, std::memory_order_acquire);
    heavy_barrier();
    if (!windows_empty(device)) {
        if (unmeasured)
            device.unmeasured.store(true, std::memory_order_release);
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
    std::uint64_t first = device.first_submit_ns.exchange(0, std::memory_order_relaxed);
    std::uint64_t busy_until =
        std::max(device.agent.busy_seen_ns, device.last_submit_ns.load(std::memory_order_relaxed));
    usage.handover_ns = first > granted ? first - granted : 0;
    if (!device.agent.told_drain && busy_until && now > busy_until)
        usage.handover_ns += now - busy_until;
    device.agent.told_drain = false;
    /* The next turn may begin and end without the agent: it must be woken for its rest. */
    device.rest_unreported.store(false, std::memory_order_release);
    device.waits_for_host.store(false, std::memory_order_relaxed);
    const bool above =
        device.alone_wanted.exchange(false, std::memory_order_relaxed) || device.state() & PTSCHED_STATE_ABOVE;
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
    if (!device.preemption.take_off(device, !windows_empty(device), usage))
        return false;
    release(device, monotonic_ns(), usage);
    device.preemption.ask_for_next_turn();
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
    if (!device.rest_unreported.load(std::memory_order_acquire))
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
    device.rest_unreported.store(false, std::memory_order_release);
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
    /* What was measured tells as well, without a fence, for which submissions would wait. But behind work that has
     * ended a fence would be work by itself, and have the device switch from who is below. */
    reap(device, state, now);
    if (above || device.meter.idle()) {
        if (!fence(device, events, state))
            return back_off(device, now);
        reap(device, state, now);
    }
    bool idle = device.meter.idle();
    if (!idle)
        own.busy_seen_ns = now;
    if (!idle || device.held_back.load(std::memory_order_acquire)) {
        own.idle_since = 0;
        return !idle && (wanted || device.meter.unknown_in_flight()) ? back_off(device, now, wanted) : linger_ns;
    }
    own.idle_since =
        std::max(own.idle_since ? own.idle_since : now, device.last_submit_ns.load(std::memory_order_relaxed));
    std::uint64_t idle_since = own.idle_since, passed = now > idle_since ? now - idle_since : 0;
    if (passed < linger_ns)
        return linger_ns - passed;

    device.closing.store(true, std::memory_order_seq_cst);
    device.linger.left(idle_since);
    bool released = try_release(device, events, state);
    if (!released)
        device.linger.left(0);
    device.closing.store(false, std::memory_order_release);
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
    device.preemption.find_level(device);
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

/* Returns after how long to look again. */
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
        device.preemption.put_back(device);
    const std::uint64_t try_within = find_level(device, state, now);
    device.preemption.adjust_slice(device, wanted_slice(device, state));
    if (!(state & (company & ~PTSCHED_STATE_OUTWEIGHED))) {
        own.idle_since = 0;
        return std::min(try_within, report_rest(device, now));
    }
    /*
     * A turn has begun, and the thread that waited for it has not come round to it yet. (Of a called-back turn, it may
     * be waiting for the next one.)
     */
    if (!(state & PTSCHED_STATE_CALLBACK) && device.acquiring.load(std::memory_order_acquire))
        return config().linger_ns;
    if (state & PTSCHED_STATE_CALLBACK)
        return end_turn(device, events, state, now);
    if (state & PTSCHED_STATE_BESIDE)
        device.report(now, report_beside_ns);
    return std::min(try_within, leave_when_idle(device, events, state, now));
}

/* The CPUs of threads that its wake-ups are for: the program's own, and heavier ones that it is to make room for. */
cpu_set_t cpus_to_leave()
{
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    auto add = [&cpus](int cpu) {
        if (cpu >= 0)
            CPU_SET(cpu, &cpus);
    };
    for (const Device *device : process->devices()) {
        add(device->submitters_cpu.load(std::memory_order_relaxed));
        if (device->scheduled())
            add(static_cast<int>(__atomic_load_n(&device->page()->asker_cpu, __ATOMIC_RELAXED)) - 1);
    }
    return cpus;
}

/* What the agent sleeps on; kept from round to round, so that it goes on where there is no more memory. */
struct Polled {
    std::vector<pollfd> fds;
    std::vector<Device *> devices; /* whose they are, but for the last */
};

void leave_helper()
{
    helper->leave();
    for (Device *device : process->devices()) {
        if (device->scheduled())
            device->preemption.helper_is_gone(*device);
    }
}

/* A program may have closed what it does not know. The helper, and the scheduler, are lost with that. */
void collect(Polled &on)
{
    auto &[fds, polled] = on;
    agent->bell.open();
    fds.assign({{agent->bell.fd(), POLLIN, 0}});
    polled.assign({nullptr});
    for (Device *device : process->devices()) {
        if (!device->scheduled())
            continue;
        const int fd = ptsched_poll_fd(device->client());
        if (fd < 0) {
            device->open_gate(ptsched_strerror(-EBADFD));
            continue;
        }
        fds.push_back({fd, POLLIN, 0});
        polled.push_back(device);
    }
    const int fd = helper->poll_fd();
    if (fd < 0 && helper->is_connected())
        leave_helper();
    fds.push_back({fd, 0, 0});
}

void sleep_until_needed(Polled &on, std::uint64_t ns)
{
    auto &[fds, polled] = on;
    collect(on);
    if (fds[0].fd < 0)
        ns = std::min(ns, no_bell_nap_ns);
    agent->napping.store(ns > long_nap_ns, std::memory_order_release);
    int ready = poll_within(fds.data(), fds.size(), ns);
    agent->napping.store(false, std::memory_order_release);
    if (ready <= 0)
        return;
    constexpr short gone = POLLHUP | POLLERR | POLLNVAL;
    if (fds[0].revents & POLLIN)
        agent->bell.answer();
    for (std::size_t i = 1; i < polled.size(); i++) {
        if (fds[i].revents & gone)
            polled[i]->scheduler_is_gone();
        if (fds[i].revents & POLLIN)
            polled[i]->agent.acknowledged.set_called(true);
    }
    if (fds.back().revents & gone)
        leave_helper();
}

/* Then the thread that ends the process is told, and nothing else is done any more. */
[[noreturn]] void report_at_exit()
{
    for (Device *device : process->devices()) {
        if (device->scheduled())
            device->report_end(monotonic_ns());
    }
    agent->quiet.store(1, std::memory_order_release);
    wake_waiters(agent->quiet);
    for (;;)
        wait_while(agent->quiet, 1, for_ever);
}

/* Returns after how long to look again. */
std::uint64_t look_after_all(bool &relaxed)
{
    std::uint64_t ns = for_ever;
    for (Device *device : process->devices()) {
        if (!device->scheduled())
            continue;
        if (!relaxed) {
            CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
            relaxed = driver.own().exchange_capture_mode(&mode) == CUDA_SUCCESS;
        }
        ns = std::min(ns, look_after(*device));
    }
    return ns;
}

void *run(void *)
{
    pthread_setname_np(pthread_self(), "ptsched-agent");
    /* Others wait for this thread of a low program. Weights come from the leader's nice. */
    be_prompt();
    prctl(PR_SET_TIMERSLACK, 1000);
    SleepingPlace place;
    Polled polled;
    bool relaxed = false;
    for (;;) {
        try {
            if (exiting.load(std::memory_order_acquire))
                report_at_exit();
            std::uint64_t ns = look_after_all(relaxed);
            place.avoid(cpus_to_leave());
            sleep_until_needed(polled, ns);
        } catch (const std::bad_alloc &) {
            nap(no_memory_nap_ns);
        }
    }
    return nullptr;
}

} // namespace

bool start_agent()
{
    std::lock_guard guard(agent->lock);
    if (agent->started)
        return true;
    if (!agent->bell.open())
        return false;
    agent->started = start_own_thread(run, nullptr);
    return agent->started;
}

void wake_agent()
{
    NoCancellation here;
    agent->bell.ring();
}

void nudge_agent()
{
    if (agent->napping.exchange(false, std::memory_order_acq_rel))
        wake_agent();
}

void quiet_agent()
{
    if (!agent->started)
        return;
    wake_agent();
    std::uint64_t now = monotonic_ns(), end = now + quiet_ns;
    for (; now < end && !agent->quiet.load(std::memory_order_acquire); now = monotonic_ns())
        wait_while(agent->quiet, 0, end - now);
}

void forget_agent()
{
    agent->bell.close_inherited();
    agent = new Agent;
}

} // namespace ptsched::preload
